#include "chat/template_number_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "chat/template_text.h"
#include "chat/template_written.h"

namespace tril::chat {
namespace {

constexpr std::int64_t most_format_digits = 500;

std::string printed_double(const char* format, std::int64_t precision, double x) {
  std::array<char, 1100> out{};
  const int n = std::snprintf(out.data(), out.size(), format, static_cast<int>(precision), x);
  return {out.data(), static_cast<std::size_t>(n)};
}

// %g with at least one digit after the point, Python's form for a float without a type.
std::string general_with_point(std::int64_t precision, double x) {
  const std::int64_t digits = std::max<std::int64_t>(precision, 1);
  const std::string scientific = printed_double("%.*e", digits - 1, x);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  const bool has_exponent = exponent < -4 || exponent >= digits - 1 + (digits == 1 ? 1 : 0);
  std::string text =
      has_exponent ? scientific : printed_double("%.*f", std::max<std::int64_t>(digits - 1 - exponent, 0), x);
  const std::size_t end = std::min(text.find('e'), text.size());
  std::string mantissa = text.substr(0, end);
  if (mantissa.find('.') != mantissa.npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.ends_with('.')) mantissa.pop_back();
  }
  if (!has_exponent && mantissa.find('.') == mantissa.npos) mantissa += ".0";
  return mantissa + text.substr(end);
}

std::string real_text(double x, const FormatSpec& spec) {  // of a non-negative number
  if (!std::isfinite(x)) {
    const bool upper = spec.type >= 'A' && spec.type <= 'Z';
    std::string text = std::isnan(x) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    return spec.type == '%' ? text + "%" : text;
  }
  if (spec.precision > most_format_digits)
    refuse(fmt::format("a format asks for more than {} digits", most_format_digits));
  const std::int64_t precision = spec.precision < 0 ? 6 : spec.precision;
  const char* const alternate = spec.alternate ? "#" : "";
  switch (spec.type) {
    case '\0':
      return spec.precision < 0 ? float_text(x) : general_with_point(spec.precision, x);
    case '%':
      return printed_double("%.*f", precision, x * 100) + "%";
    case 'n':
      return printed_double("%.*g", precision, x);
    default:
      return printed_double(fmt::format("%{}.*{}", alternate, spec.type).c_str(), precision, x);
  }
}

std::string whole_text(std::uint64_t n, const FormatSpec& spec) {
  std::string digits;
  switch (spec.type) {
    case 'b':
      digits = fmt::format("{:b}", n);
      break;
    case 'o':
      digits = fmt::format("{:o}", n);
      break;
    case 'x':
      digits = fmt::format("{:x}", n);
      break;
    case 'X':
      digits = fmt::format("{:X}", n);
      break;
    default:
      digits = std::to_string(n);
  }
  return digits;
}

std::string grouped(std::string digits, char by, std::size_t each) {
  const std::size_t end = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (std::size_t at = end; at > each; at -= each) digits.insert(at - each, 1, by);
  return digits;
}

}  // namespace

std::string number_text(const Value& value, const FormatSpec& spec) {
  const auto whole = value.integer();
  const bool as_whole =
      whole && std::string_view("bdoxXniu").find(spec.type == '\0' ? 'd' : spec.type) != std::string_view::npos;
  if (!as_whole && std::string_view("eEfFgGn%").find(spec.type) == std::string_view::npos && spec.type != '\0')
    refuse(fmt::format("a format's type \"{}\" does not take {}", spec.type, value.type_name()));
  const double real = *value.number();
  const bool negative = as_whole ? *whole < 0 : std::signbit(real) && !std::isnan(real);
  std::string digits =
      as_whole
          ? whole_text(*whole < 0 ? 0 - static_cast<std::uint64_t>(*whole) : static_cast<std::uint64_t>(*whole), spec)
          : real_text(std::abs(real), spec);
  if (spec.grouping != '\0') {
    if (spec.zeros || spec.align == '=') refuse("a format with zeros in front of grouped digits is not supported");
    if (as_whole && spec.type != '\0' && spec.type != 'd') {
      if (spec.grouping == ',') refuse(fmt::format("a format cannot group by , with the type \"{}\"", spec.type));
      digits = grouped(digits, spec.grouping, 4);
    } else {
      digits = grouped(digits, spec.grouping, 3);
    }
  }
  std::string sign = negative ? "-" : spec.sign == '\0' || spec.sign == '-' ? "" : std::string(1, spec.sign);
  if (as_whole && spec.alternate && std::string_view("boxX").find(spec.type) != std::string_view::npos)
    sign += std::string("0") + spec.type;
  return sign + digits;
}

std::string aligned(std::string_view text, const FormatSpec& spec, std::size_t sign_length, Budget& budget) {
  const std::int64_t room = room_in(spec.width, text);
  if (room <= 0) return std::string(text);
  switch (spec.align) {
    case '>':
      return padded(text, room, 0, spec.fill, budget);
    case '^':
      return padded(text, room / 2, room - room / 2, spec.fill, budget);
    case '=':
      return std::string(text.substr(0, sign_length)) + padded(text.substr(sign_length), room, 0, spec.fill, budget);
    default:
      return padded(text, 0, room, spec.fill, budget);
  }
}

}  // namespace tril::chat
