#include "search/schema_numbers.h"

#include <cmath>
#include <optional>

namespace tril::search {
namespace {

using Bound = GrammarWriter::Bound;

struct Bounds {
  std::optional<Bound> least, most;
};

Bounds bounds_of(const Json& schema) {
  Bounds bounds;
  const auto narrow = [&](const char* word, bool included, std::optional<Bound>& bound, bool is_least) {
    if (!schema.contains(word)) return;
    const double value = schema[word].get<double>();
    const bool tighter =
        !bound || (is_least ? value > bound->value : value < bound->value) || (value == bound->value && !included);
    if (tighter) bound = Bound{value, included};
  };
  narrow("minimum", true, bounds.least, true), narrow("exclusiveMinimum", false, bounds.least, true);
  narrow("maximum", true, bounds.most, false), narrow("exclusiveMaximum", false, bounds.most, false);
  return bounds;
}

std::optional<std::int64_t> multiple_of(const Json& schema, const std::string& place) {
  if (!schema.contains("multipleOf")) return std::nullopt;
  const Json& value = schema["multipleOf"];
  const bool fits = is_of_type(value, "integer") && value.get<double>() >= 1 && value.get<double>() <= 1000;
  if (!fits) refuse_schema(place + "/multipleOf", "expected a whole number from 1 to 1000: others are not supported");
  return static_cast<std::int64_t>(value.get<double>());
}

// The whole number that is the bound among whole numbers.
std::optional<std::int64_t> whole_bound(const std::optional<Bound>& bound, bool is_least, const std::string& place) {
  if (!bound) return std::nullopt;
  if (std::abs(bound->value) >= 1e18) refuse_schema(place, "bounds beyond 10^18 are not supported");
  const double nearest = is_least ? std::ceil(bound->value) : std::floor(bound->value);
  const std::int64_t step = nearest == bound->value && !bound->included ? is_least ? 1 : -1 : 0;
  return static_cast<std::int64_t>(nearest) + step;
}

}  // namespace

void write_number(GrammarWriter& writer, const Json& schema, bool whole, std::int32_t from, std::int32_t to,
                  const std::string& place) {
  const auto [least, most] = bounds_of(schema);
  const std::optional<std::int64_t> factor = multiple_of(schema, place);
  if (whole || factor) {  // a multiple of a whole number is whole
    const auto first = whole_bound(least, true, place), last = whole_bound(most, false, place);
    writer.write_integers(first, last, factor.value_or(1), from, to);
  } else if (least || most) {
    writer.write_decimals(least, most, from, to);
  } else {
    writer.write_pattern(
        Pattern::of_regex("-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?", Pattern::Match::whole), from,
        to);
  }
}

}  // namespace tril::search
