#include "model_io/gguf/gguf_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/printable.h"

namespace tril::model {
namespace {

// True if a value has no effect.
bool is_idle(const GgufEntry& e) {
  if (e.is_array) return e.count == 0;
  return std::all_of(e.bytes.begin(), e.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

GgufReader::GgufReader(const GgufFile& file)
    : file_(&file), architecture_(file.at<std::string_view>("general.architecture")) {}

std::string GgufReader::full(std::string_view key) {
  return *known_.insert(fmt::format("{}.{}", architecture_, key)).first;
}

std::optional<std::int64_t> GgufReader::count(std::string_view key) {
  const std::string name = full(key);
  const GgufEntry* const e = file_->find(name);
  if (!e) return std::nullopt;
  std::int64_t n = 0;
  if (e->is_array) {
    const auto values = file_->at<std::vector<std::int64_t>>(name);
    if (values.empty() || std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
      file_->fail_at(name, "differs from layer to layer, which is not supported");
    n = values[0];
  } else {
    n = file_->at<std::int64_t>(name);
  }
  if (n < 1 || n > 0x7fffffff) file_->fail_at(name, fmt::format("{} is not a count from 1 to 2^31 - 1", n));
  return n;
}

std::int64_t GgufReader::needed_count(std::string_view key) {
  if (const auto n = count(key)) return *n;
  return file_->at<std::int64_t>(full(key));  // throws the Error for a missing key
}

std::optional<double> GgufReader::number(std::string_view key) {
  const std::string name = full(key);
  const auto value = file_->get<double>(name);
  if (!value) return std::nullopt;
  if (!std::isfinite(*value)) file_->fail_at(name, fmt::format("{} is not a finite number", *value));
  const auto narrow = static_cast<float>(*value);
  return narrow == *value ? std::strtod(fmt::format("{}", narrow).c_str(), nullptr) : *value;
}

void GgufReader::fail_at(std::string_view key, const std::string& text, const std::string& hint) {
  file_->fail_at(full(key), text, hint);
}

void GgufReader::finish() const {
  for (const GgufEntry& e : file_->metadata())
    if (e.key.starts_with(architecture_ + ".") && !known_.contains(e.key) && !is_idle(e))
      file_->fail_at(e.key, fmt::format("is not supported for the architecture {}", architecture_),
                     did_you_mean(e.key, {known_.begin(), known_.end()}));
}

}  // namespace tril::model
