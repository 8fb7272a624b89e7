#include "chat/template_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "chat/template_format.h"
#include "chat/template_functions.h"
#include "chat/template_markup.h"

namespace tril::chat {
namespace {

Value repeated(const Value& value, std::int64_t n, Budget& budget) {
  const std::string& text = *value.get<std::string>();
  std::string out;
  if (n > 0 && !text.empty() && std::cmp_greater(n, longest_text / text.size())) refuse("a string becomes too long");
  if (n > 0) budget.pay_text(static_cast<std::size_t>(n) * (8 + text.size()));
  for (std::int64_t i = 0; i < n && !text.empty(); ++i) out += text;
  return Value::text_like(value, std::move(out));
}

Value repeated_list(const Value& value, std::int64_t n, Budget& budget) {
  const List& list = *value.get<List>();
  List out;
  if (n > 0 && !list.empty() && std::cmp_greater(n, longest_text / list.size())) refuse("a list becomes too long");
  if (n > 0) budget.pay(static_cast<std::size_t>(n) * (1 + 4 * list.size()));
  for (std::int64_t i = 0; i < n && !list.empty(); ++i) out.insert(out.end(), list.begin(), list.end());
  return value.is_tuple() ? Value::tuple(std::move(out)) : Value(std::move(out));
}

// Nothing if the result overflows. Division rounds down, as in Python.
std::optional<std::int64_t> whole_arithmetic(const std::string& op, std::int64_t i, std::int64_t j) {
  std::int64_t r = 0;
  if (op == "+") return __builtin_add_overflow(i, j, &r) ? std::nullopt : std::optional(r);
  if (op == "-") return __builtin_sub_overflow(i, j, &r) ? std::nullopt : std::optional(r);
  if (op == "*") return __builtin_mul_overflow(i, j, &r) ? std::nullopt : std::optional(r);
  if (op == "**") {
    if (j < 0 || j > 64) return std::nullopt;
    r = 1;
    for (; j > 0; --j)
      if (__builtin_mul_overflow(r, i, &r)) return std::nullopt;
    return r;
  }
  if (j == -1) return op == "%" ? std::optional<std::int64_t>(0) : whole_arithmetic("-", 0, i);
  const std::int64_t rest = i % j;
  const bool adjust = rest != 0 && (rest < 0) != (j < 0);
  return op == "%" ? (adjust ? rest + j : rest) : i / j - (adjust ? 1 : 0);
}

// x // y and x % y. In Python x = (x // y) y + x % y, and the remainder has the sign of y.
double divided(const std::string& op, double x, double y) {
  double rest = std::fmod(x, y);
  if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
  if (op == "%") return rest == 0 ? std::copysign(0.0, y) : rest;
  const double quotient = (x - rest) / y, down = std::floor(quotient);
  return quotient - down > 0.5 ? down + 1 : down;  // whole up to rounding
}

Value arithmetic(const std::string& op, const Value& a, const Value& b) {
  check_defined(a, "is not a number");
  check_defined(b, "is not a number");
  const auto x = a.number(), y = b.number();
  if (!x || !y) refuse(fmt::format("\"{}\" does not take {} and {}", op, a.type_name(), b.type_name()));
  const auto i = a.integer(), j = b.integer();
  if ((op == "/" || op == "//" || op == "%") && *y == 0) refuse("division by zero");
  if (op == "/") return *x / *y;
  if (i && j) {
    if (const auto whole = whole_arithmetic(op, *i, *j)) return *whole;
    if (op != "**" || *j >= 0) refuse("a number is too large");
  }
  if (op == "+") return *x + *y;
  if (op == "-") return *x - *y;
  if (op == "*") return *x * *y;
  if (op == "//" || op == "%") return divided(op, *x, *y);
  if (*x == 0 && *y < 0) refuse("0 to a negative power");
  if (*x < 0 && std::floor(*y) != *y) refuse("a root of a negative number is not supported");
  return std::pow(*x, *y);
}

}  // namespace

void check_defined(const Value& value, std::string_view what) {
  if (const auto* u = value.get<Undefined>())
    refuse(fmt::format("\"{}\" is undefined: it {}", printable(u->name), what));
}

Value unary(const std::string& op, const Value& value) {
  if (op == "not") return !value.truth();
  const auto whole = value.integer();
  if (whole && *whole == std::numeric_limits<std::int64_t>::min()) refuse("a number is too large");
  if (whole) return op == "-" ? -*whole : *whole;
  if (const auto n = value.number()) return op == "-" ? -*n : *n;
  refuse(fmt::format("\"{}\" takes a number, not {}", op, value.type_name()));
}

Value binary(const std::string& op, const Value& a, const Value& b, Budget& budget) {
  if (op == "~") {
    std::string text = printed(a, budget) + printed(b, budget);
    budget.pay_text(text.size());
    if (text.size() > longest_text) refuse("a string becomes too long");
    return Value(std::move(text));
  }
  if (op == "+") {
    if (a.get<std::string>() && b.get<std::string>()) return sum_of_texts(a, b, budget);
    if (a.is_plain_list() && b.is_plain_list() && a.is_tuple() == b.is_tuple()) {
      List sum = *a.get<List>();
      const List& more = *b.get<List>();
      budget.pay(4 * (sum.size() + more.size()));
      sum.insert(sum.end(), more.begin(), more.end());
      return a.is_tuple() ? Value::tuple(std::move(sum)) : Value(std::move(sum));
    }
  }
  if (op == "*") {
    const Value &what = a.integer() ? b : a, &times = a.integer() ? a : b;
    if (const auto n = times.integer(); n && what.get<std::string>()) return repeated(what, *n, budget);
    if (const auto n = times.integer(); n && what.is_plain_list()) return repeated_list(what, *n, budget);
  }
  if (op == "%" && a.get<std::string>()) return percent_format(a, b, budget);
  return arithmetic(op, a, b);
}

bool compares(std::string_view op, const Value& a, const Value& b, Budget& budget) {
  budget.pay(8 + cost_of_equal(a, b));
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(b, a, budget);
  if (op == "not in") return !contains(b, a, budget);
  if (op == "<") return less(a, b);
  if (op == ">") return less(b, a);
  const bool numbers = a.number() && b.number();  // some pairs are unordered
  if (op == "<=") return numbers ? less(a, b) || equal(a, b) : !less(b, a);
  return numbers ? less(b, a) || equal(a, b) : !less(a, b);
}

}  // namespace tril::chat
