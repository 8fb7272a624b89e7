#include "grammar/schemas/exact_number.h"

#include <fmt/format.h>

#include <cmath>

namespace tril::search {
namespace {

constexpr double beyond = 0x1p64;             // the first number beyond 64 bits
constexpr double largest_quotient = 1e9;      // below this a double surely tells whether a quotient is whole
constexpr double smallest_difference = 1e-6;  // a larger distance from a whole number is not a rounding error

}  // namespace

ExactNumber::ExactNumber(double x) : rounded_(x) {
  if (std::floor(x) == x && std::abs(x) < beyond) magnitude_ = static_cast<std::uint64_t>(std::abs(x));
}

ExactNumber::ExactNumber(const Json& number) : ExactNumber(number.get<double>()) {
  if (number.is_number_unsigned()) {
    magnitude_ = number.get<std::uint64_t>();
  } else if (number.is_number_integer()) {
    const auto n = number.get<std::int64_t>();
    magnitude_ = n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  }
}

std::strong_ordering ExactNumber::operator<=>(const ExactNumber& other) const {
  // Rounding keeps the order.
  if (rounded_ != other.rounded_)
    return rounded_ < other.rounded_ ? std::strong_ordering::less : std::strong_ordering::greater;
  if (is_whole() && other.is_whole())
    return is_negative() ? other.magnitude() <=> magnitude() : magnitude() <=> other.magnitude();
  if (is_whole() == other.is_whole()) return std::strong_ordering::equal;
  // 2^64, and a whole number that rounds to it.
  return is_whole() == is_negative() ? std::strong_ordering::greater : std::strong_ordering::less;
}

std::string ExactNumber::key() const {
  return is_whole() ? fmt::format("{}{}", is_negative() ? "-" : "", magnitude()) : fmt::format("{}", rounded_);
}

std::optional<bool> is_multiple(const ExactNumber& x, const ExactNumber& factor) {
  if (x.is_whole() && factor.is_whole()) return x.magnitude() % factor.magnitude() == 0;
  // 1, a half, a quarter, ... divide all whole numbers.
  int exponent = 0;
  const bool divides_one = std::frexp(factor.rounded(), &exponent) == 0.5 && exponent <= 1;
  if (divides_one && std::floor(x.rounded()) == x.rounded()) return true;
  const double times = std::abs(x.rounded() / factor.rounded());
  if (!(times < largest_quotient)) return std::nullopt;
  if (std::floor(times) == times) return true;
  return std::abs(std::round(times) - times) < smallest_difference ? std::nullopt : std::optional(false);
}

}  // namespace tril::search
