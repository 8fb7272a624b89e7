#include "chat/template_numbers.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

#include "chat/template_operators.h"
#include "chat/template_text.h"
#include "unicode/characters.h"

namespace tril::chat {
namespace {

// ---- Texts

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A text as int() and float() read it: without surrounding white space, with ASCII digits instead of those of other
// scripts, and without underscores. Nothing if an underscore is not between digits.
std::optional<std::string> plain_number(const std::string& text, Budget& budget) {
  budget.pay(4 * text.size());
  std::string out;
  const std::string inside = stripped(text, nullptr, both, budget);
  for (std::size_t at = 0; at < inside.size();) {
    const Character c = character_at(inside, at);
    const std::int32_t digit = c.code == Character::not_utf8 ? -1 : u_charDigitValue(static_cast<UChar32>(c.code));
    if (digit >= 0)
      out += static_cast<char>('0' + digit);
    else if (c.code < 0x80)
      out += inside[at];
    else
      return std::nullopt;
    at += c.length;
  }
  std::string without;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != '_') {
      without += out[i];
    } else if (i == 0 || i + 1 == out.size() || !is_alphanumeric(out[i - 1]) || !is_alphanumeric(out[i + 1])) {
      return std::nullopt;
    }
  }
  return without;
}

// int(text, base). Nothing for any other text.
std::optional<std::int64_t> whole_of(const std::string& text, std::int64_t base, Budget& budget) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  const std::optional<std::string> plain = plain_number(text, budget);
  if (!plain) return std::nullopt;
  std::string_view s = *plain;
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  constexpr std::array<std::pair<std::string_view, int>, 3> prefixes{{{"bB", 2}, {"oO", 8}, {"xX", 16}}};
  bool prefixed = false;
  for (const auto& [letters, its_base] : prefixes)
    if (s.size() > 2 && s[0] == '0' && letters.find(s[1]) != letters.npos && (base == 0 || base == its_base)) {
      s.remove_prefix(2);
      base = its_base;
      prefixed = true;
      break;
    }
  if (base == 0) {
    if (s.starts_with('0') && s.find_first_not_of('0') != s.npos) return std::nullopt;
    base = 10;
  }
  if (s.empty() || (prefixed && !is_alphanumeric(s[0])) || s[0] == '-') return std::nullopt;
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n, static_cast<int>(base));
  if (end != s.data() + s.size() || error == std::errc::invalid_argument) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (error != std::errc{} || n > most) refuse("int: the number is too large");
  return negative ? -static_cast<std::int64_t>(n) : static_cast<std::int64_t>(n);
}

// float(text). Nothing for any other text.
std::optional<double> real_of(const std::string& text, Budget& budget) {
  const std::optional<std::string> plain = plain_number(text, budget);
  if (!plain) return std::nullopt;
  std::string_view s = *plain;
  if (s.starts_with('+')) {
    s.remove_prefix(1);
    if (s.starts_with('-')) return std::nullopt;
  }
  double d = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), d);
  if (end != s.data() + s.size() || s.find('(') != s.npos || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc{} ? d : std::strtod(std::string(s).c_str(), nullptr);  // infinite, or close to 0
}

// ---- Rounding

// round(x, digits): to the nearest decimal number; ties go to the even one. printf knows all digits of a number
// exactly.
double round_decimal(double x, std::int64_t digits) {
  constexpr std::int64_t most_digits = 323, least_digits = -308;
  if (x == 0 || !std::isfinite(x) || digits > most_digits) return x;
  if (digits < least_digits) return std::copysign(0.0, x);
  std::array<char, 1100> text{};
  if (digits >= 0) {
    std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), x);
    return std::strtod(text.data(), nullptr);
  }
  const auto write = [&](int n) { std::snprintf(text.data(), text.size(), "%.*e", n, x); };
  write(20);
  const std::int64_t exponent =
      std::atoi(std::string_view(text.data()).substr(std::string_view(text.data()).find('e') + 1).data());
  const std::int64_t kept = exponent + digits;  // after the first digit
  if (kept < -1) return std::copysign(0.0, x);
  if (kept == -1) {
    const double step = std::strtod(fmt::format("1e{}", -digits).c_str(), nullptr);
    return std::copysign(std::abs(x) > step / 2 ? step : 0.0, x);
  }
  write(static_cast<int>(kept));
  return std::strtod(text.data(), nullptr);
}

std::int64_t round_whole(std::int64_t n, std::int64_t digits) {
  constexpr std::int64_t most_digits = 18;
  if (digits >= 0) return n;
  if (digits < -most_digits) return 0;
  std::int64_t step = 1;
  for (std::int64_t i = 0; i < -digits; ++i) step *= 10;
  const std::int64_t rest = n % step, down = n - rest, away = rest < 0 ? -step : step;
  const std::int64_t twice = 2 * std::abs(rest);
  const bool goes_away = twice > step || (twice == step && (down / step) % 2 != 0);
  std::int64_t result = down;
  if (goes_away && __builtin_add_overflow(down, away, &result)) refuse("round: the number is too large");
  return result;
}

}  // namespace

Value rounded(const Value& value, const Arguments& a) {
  const auto n = value.number();
  if (!n) refuse(fmt::format("round takes a number, not {}", value.type_name()));
  const Value* precision = argument(a, 0, "precision");
  const std::string method = text_argument(a, 1, "method", "");
  if (argument(a, 1, "method") && method != "common" && method != "ceil" && method != "floor")
    refuse("round: the method must be common, ceil or floor");
  if (precision && !precision->integer())
    refuse(fmt::format("round: the precision is {}, expected an integer", precision->type_name()));
  const std::int64_t digits = precision ? *precision->integer() : 0;
  if (method.empty() || method == "common") {
    if (const auto whole = value.integer()) return round_whole(*whole, digits);
    return round_decimal(*n, digits);
  }
  constexpr std::int64_t most = 22;  // the largest power of ten that a double holds exactly
  if (std::abs(static_cast<double>(digits)) > most)
    refuse(fmt::format("round: {} to more than {} digits is not supported", method, most));
  const double scale = std::pow(10.0, static_cast<double>(digits)), x = *n * scale;
  if (!std::isfinite(x)) refuse("round: the number is too large");
  return (method == "ceil" ? std::ceil(x) : std::floor(x)) / scale;
}

Value to_int(const Value& value, const Arguments& a, Budget& budget) {
  check_defined(value, "is not a number");
  constexpr double most = 9.2e18;
  if (const auto n = value.integer()) return *n;
  const Value* otherwise = argument(a, 0, "default");
  const Value* base = argument(a, 1, "base");
  std::optional<double> real = value.number();
  if (real && std::isinf(*real)) refuse("int: the number is too large");
  if (const auto* s = value.get<std::string>()) {
    if (const auto whole = base && !base->integer() ? std::nullopt : whole_of(*s, base ? *base->integer() : 10, budget))
      return *whole;
    real = real_of(*s, budget);
  }
  if (real && std::isfinite(*real)) {
    if (std::abs(*real) > most) refuse("int: the number is too large");
    return static_cast<std::int64_t>(*real);
  }
  return otherwise ? *otherwise : Value(std::int64_t{0});
}

Value to_float(const Value& value, const Arguments& a, Budget& budget) {
  check_defined(value, "is not a number");
  std::optional<double> real = value.number();
  if (const auto* s = value.get<std::string>()) real = real_of(*s, budget);
  if (real) return *real;
  const Value* otherwise = argument(a, 0, "default");
  return otherwise ? *otherwise : Value(0.0);
}

Value absolute(const Value& value) {
  if (const auto n = value.integer()) return *n < 0 ? unary("-", value) : Value(*n);
  const auto n = value.number();
  if (!n) refuse(fmt::format("abs takes a number, not {}", value.type_name()));
  return std::abs(*n);
}

std::string file_size(const Value& value, bool binary, Budget& budget) {
  const auto* s = value.get<std::string>();
  const std::optional<double> number = s ? real_of(*s, budget) : value.number();
  if (!number) refuse(fmt::format("filesizeformat takes a number, not {}", value.type_name()));
  const double bytes = *number, base = binary ? 1024 : 1000;
  if (!std::isfinite(bytes)) refuse("filesizeformat: the number is not finite");
  if (bytes == 1) return "1 Byte";
  if (bytes < base) return fmt::format("{:.0f} Bytes", std::trunc(bytes) + 0.0);  // never -0
  constexpr std::string_view prefixes = "kMGTPEZY";
  double unit = base;
  for (std::size_t i = 0;; ++i) {
    unit *= base;
    if (bytes < unit || i + 1 == prefixes.size())
      return fmt::format("{:.1f} {}{}B", base * bytes / unit, binary && i == 0 ? 'K' : prefixes[i], binary ? "i" : "");
  }
}

Value sum_of(const List& list, const Value& start, Budget& budget) {
  if (start.get<std::string>()) refuse("sum takes numbers, not a string");
  Value sum = start;
  for (const Value& one : list) sum = binary("+", sum, one, budget);
  return sum;
}

}  // namespace tril::chat
