// Numbers for people. {fmt} prints the arbitrary sign bit of a NaN: "-nan".
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace tril {

/// For a message: "2.71828", "not a number", "infinite".
inline std::string number_text(double x) {
  if (std::isnan(x)) return "not a number";
  if (std::isinf(x)) return x > 0 ? "infinite" : "minus infinite";
  return fmt::format("{:.6g}", x);
}

/// A number and what it counts: "1 line", "300 lines". The number may be a text, such as format_count() returns.
/// @param many  the plural if it is not formed with s: counted(n, "batch", "batches")
template <class Number>
std::string counted(const Number& n, std::string_view one, std::string_view many = {}) {
  const std::string number = fmt::format("{}", n);
  if (number == "1") return fmt::format("{} {}", number, one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

/// For columns of figures: the same number, but "nan" instead of "-nan".
inline double unsigned_nan(double x) {
  return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x;
}

}  // namespace tril
