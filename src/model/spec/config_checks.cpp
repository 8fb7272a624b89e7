#include "model/spec/config_checks.h"

#include "base/error.h"
#include "model/spec/config_reader.h"

namespace tril::model {

void ConfigChecks::need(bool ok, std::string_view key, const std::string& text) const {
  if (!ok) fail_usage(fmt::format("{}: {}", where_, key), text);
}

void ConfigChecks::within(std::int64_t value, std::int64_t most, std::string_view key) const {
  need(value > 0 && value <= most, key, fmt::format("{} is outside the supported range from 1 to {}", value, most));
}

void ConfigChecks::probability(double p, std::string_view key) const {
  need(p >= 0 && p < 1, key, fmt::format("{} is not in [0, 1)", p));
}

void ConfigChecks::probability(float p, std::string_view key) const {
  need(p >= 0 && p < 1, key, fmt::format("{} is not in [0, 1)", p));  // as a float it has fewer digits
}

void ConfigChecks::positive(double x, std::string_view key) const {
  need(is_positive_float(x), key, fmt::format("{} is not a positive number", x));
}

void ConfigChecks::at_least_0(double x, std::string_view key) const {
  need(is_float_from_0(x), key, fmt::format("{} is not a number of at least 0", x));
}

void ConfigChecks::id(std::int32_t id, std::int64_t vocab_size, std::string_view key) const {
  need(id != -1, key, fmt::format("is null or absent, expected an id below {}", vocab_size));
  optional_id(id, vocab_size, key);
}

void ConfigChecks::optional_id(std::int32_t id, std::int64_t vocab_size, std::string_view key) const {
  need(id >= -1 && id < vocab_size, key,
       fmt::format("{} is not a valid id: the vocabulary has {} tokens", id, vocab_size));
}

}  // namespace tril::model
