#include "grammar/schemas/schema_numbers.h"
#include "grammar/expressions/pattern_of_regex.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numeric>

namespace tril::search {
namespace {

using WrittenBound = GrammarWriter::Bound;
constexpr std::int64_t largest_factor = 1'000;
constexpr std::int64_t largest_whole = 1'000'000'000'000'000'000;
const ExactNumber largest_decimal(1e15), least_decimal(-1e15);

// A bound beyond all numbers that are written has no effect.
std::optional<std::int64_t> near_bound(const std::optional<Box::Bound>& bound, bool is_least,
                                       const std::string& place) {
  if (!bound) return std::nullopt;
  const std::optional<std::int64_t> near = whole_bound(*bound, is_least);
  if (!near && is_least != bound->value.is_negative())
    refuse_unsupported(place, "numbers beyond 10^18 are not supported");
  return near;
}

/// An exact number: units / 10^digits.
struct Exact {
  std::int64_t units;
  int digits;
};

Exact exactly(const Json& number, const std::string& place) {
  const std::string text = number.dump();
  Exact e{0, 0};
  std::size_t i = 0;
  bool behind_point = false;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      behind_point = true;
      continue;
    }
    if (e.units > 1'000'000'000'000) refuse_unsupported(place, "a factor with so many digits is not supported");
    e.units = e.units * 10 + (text[i] - '0');
    e.digits += behind_point;
  }
  if (i < text.size()) e.digits -= std::stoi(text.substr(i + 1));
  for (; e.digits < 0 && e.units < 1'000'000'000'000; ++e.digits) e.units *= 10;
  for (; e.digits > 0 && e.units % 10 == 0; --e.digits) e.units /= 10;
  if (e.digits < 0 || e.digits > 15 || e.units == 0)
    refuse_unsupported(place, "a factor of such a size is not supported");
  return e;
}

std::int64_t power(int n) {
  return n == 0 ? 1 : 10 * power(n - 1);
}

/// The combination of all factors: the divisor of the whole numbers, and the digits after the point that numbers may have.
struct Factor {
  std::int64_t whole = 1;
  int fraction = 0;
};

// Validators divide doubles. If a factor has no exact double, such as 0.01, only those multiples are written whose doubles are
// exact: whole numbers, halves and quarters. The factor's double must be so near to it that the quotients are whole.
Factor factor_of(const std::vector<Json>& factors, const std::string& place) {
  Factor all{1, 2};
  for (const Json& one : factors) {
    const Exact e = exactly(one, place + "/multipleOf");
    const std::int64_t whole = e.units / std::gcd(e.units, power(e.digits));
    all.whole = std::lcm(all.whole, whole);
    if (all.whole > largest_factor)
      refuse_unsupported(place + "/multipleOf", fmt::format("factors above {} are not supported", largest_factor));
    while (all.fraction > 0 &&
           (e.digits < all.fraction || power(e.digits) / (all.fraction == 2 ? 4 : 2) % e.units != 0))
      --all.fraction;
    const long double exact = static_cast<long double>(e.units) / static_cast<long double>(power(e.digits));
    const long double error = std::abs((static_cast<long double>(one.get<double>()) - exact) / exact);
    if (error > 5.6e-17L)
      refuse_unsupported(place + "/multipleOf", "a factor with no double close to it is not supported");
  }
  return all;
}

void write_whole(GrammarWriter& writer, const Box& box, std::int64_t factor, const std::string& place,
                 std::int32_t from, std::int32_t to) {
  writer.write_integers(near_bound(box.low, true, place), near_bound(box.high, false, place), factor, from, to);
}

// Like near_bound(), for decimal numbers.
std::optional<WrittenBound> decimal_bound(const std::optional<Box::Bound>& bound) {
  if (!bound || bound->value >= largest_decimal || bound->value <= least_decimal) return std::nullopt;
  return WrittenBound{bound->value.rounded(), bound->included};
}

}  // namespace

std::optional<std::int64_t> whole_bound(const Box::Bound& bound, bool is_least) {
  const ExactNumber& x = bound.value;
  const std::int64_t step = bound.included ? 0 : is_least ? 1 : -1;
  std::int64_t whole = 0;
  if (x.is_whole()) {
    if (x.magnitude() >= static_cast<std::uint64_t>(largest_whole)) return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(x.magnitude());
    whole = (x.is_negative() ? -magnitude : magnitude) + step;
  } else {
    if (std::abs(x.rounded()) >= static_cast<double>(largest_whole)) return std::nullopt;
    whole = static_cast<std::int64_t>(is_least ? std::ceil(x.rounded()) : std::floor(x.rounded()));
  }
  return std::abs(whole) < largest_whole ? std::optional(whole) : std::nullopt;
}

void write_number(GrammarWriter& writer, const Box& box, const std::string& place, std::int32_t from, std::int32_t to) {
  const Factor factor = box.factors.empty() ? Factor{} : factor_of(box.factors, place);
  if (box.whole) return write_whole(writer, box, factor.whole, place, from, to);
  const bool has_decimals = box.factors.empty() || factor.fraction > 0;
  if (!has_decimals && box.fraction) refuse_unsupported(place, "non-integers with that factor are not supported");
  if (!has_decimals) return write_whole(writer, box, factor.whole, place, from, to);
  const bool large = box.low && box.low->value >= largest_decimal, small = box.high && box.high->value <= least_decimal;
  if ((large || small) && box.fraction) refuse_unsupported(place, "non-integers beyond 10^15 are not supported");
  if (large || small) return write_whole(writer, box, factor.whole, place, from, to);
  const std::optional<WrittenBound> low = decimal_bound(box.low), high = decimal_bound(box.high);
  if (box.fraction) {
    if (!box.factors.empty()) refuse_unsupported(place, "non-integers with such a factor are not supported");
    for (const int digits : {1, 2, 3})
      writer.write_steps({digits, power(digits), /*divides=*/false}, low, high, from, to);
  } else if (!box.factors.empty()) {
    write_whole(writer, box, factor.whole, place, from, to);
    writer.write_steps({1, 5}, low, high, from, to);
    if (factor.fraction == 2) writer.write_steps({2, 25}, low, high, from, to);
  } else if (box.low || box.high) {  // an exponent might exceed a bound that is far away
    writer.write_decimals(low, high, from, to);
  } else {
    writer.write_pattern(
        pattern_of_regex("-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?", RegexMatch::whole), from, to);
  }
}

}  // namespace tril::search
