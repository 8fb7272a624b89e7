// Numbers for people. A number that is none has a sign bit by chance, which {fmt} would print: "-nan".
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

namespace tril {

/// For a message: "2.71828", "not a number", "infinite".
inline std::string number_text(double x) {
  if (std::isnan(x)) return "not a number";
  if (std::isinf(x)) return x > 0 ? "infinite" : "minus infinite";
  return fmt::format("{:.6g}", x);
}

/// For columns of figures: the same number, and "nan" instead of "-nan".
inline double unsigned_nan(double x) {
  return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x;
}

}  // namespace tril
