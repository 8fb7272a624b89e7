// Numbers of JSON texts, compared exactly: whole numbers of up to 64 bits are not rounded to doubles, which cannot tell
// those beyond 2^53 apart, and are compared with doubles exactly.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "grammar/schemas/schema_words.h"

namespace tril::search {

class ExactNumber {
 public:
  explicit ExactNumber(double x);
  /// @param number  of any of JSON's three number types
  explicit ExactNumber(const Json& number);

  /// The nearest double.
  double rounded() const { return rounded_; }
  /// Whether it is a whole number whose magnitude fits 64 bits.
  bool is_whole() const { return magnitude_.has_value(); }
  /// The absolute value, if whole.
  std::uint64_t magnitude() const { return *magnitude_; }
  bool is_negative() const { return rounded_ < 0; }

  std::strong_ordering operator<=>(const ExactNumber& other) const;
  bool operator==(const ExactNumber& other) const { return (*this <=> other) == 0; }
  /// A text that equal numbers share and others do not.
  std::string key() const;

 private:
  double rounded_;
  std::optional<std::uint64_t> magnitude_;
};

/// Whether `x` is a multiple of `factor`, which is above 0; nothing if validators may differ, depending on how they divide.
std::optional<bool> is_multiple(const ExactNumber& x, const ExactNumber& factor);

}  // namespace tril::search
