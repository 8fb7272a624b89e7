#include "train/loop/units.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/as_size.h"
#include "base/error.h"

namespace tril::train {
namespace {

constexpr const char* form = "a number with unit u (updates), e (epochs), m (minutes) or t (target tokens)";
constexpr const char* examples = "for example 8000u, 30e, 10m or 5Gt; separate several with commas";

char letter_of(Unit unit) {
  switch (unit) {
    case Unit::updates:
      return 'u';
    case Unit::epochs:
      return 'e';
    case Unit::minutes:
      return 'm';
    case Unit::tokens:
      return 't';
  }
  return 'u';
}

}  // namespace

Amount parse_amount(std::string_view text, const std::string& where) {
  const auto wrong = [&]() { fail_usage(where, fmt::format("expected {}, got \"{}\"", form, text), examples); };
  Amount amount;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), amount.value);
  if (problem != std::errc{} || !std::isfinite(amount.value) || amount.value < 0) wrong();
  std::string_view rest = text.substr(as_size(end - text.data()));
  if (!rest.empty()) {
    switch (rest.front()) {
      case 'K':
        amount.value *= 1e3, rest.remove_prefix(1);
        break;
      case 'M':
        amount.value *= 1e6, rest.remove_prefix(1);
        break;
      case 'G':
        amount.value *= 1e9, rest.remove_prefix(1);
        break;
      default:
        break;
    }
  }
  if (rest.size() > 1) wrong();
  switch (rest.empty() ? 'u' : rest.front()) {
    case 'u':
      amount.unit = Unit::updates;
      break;
    case 'e':
      amount.unit = Unit::epochs;
      break;
    case 'm':
      amount.unit = Unit::minutes;
      break;
    case 't':
      amount.unit = Unit::tokens;
      break;
    default:
      wrong();
  }
  const bool whole = amount.unit != Unit::minutes;
  check(!whole || amount.value == std::floor(amount.value), where,
        "expected an integer (only minutes may have decimals), got \"{}\"", text);
  return amount;
}

Amounts parse_amounts(std::string_view text, const std::string& where) {
  check(!text.empty(), where, "expected {} ({}), got \"\"", form, examples);
  Amounts list;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const Amount amount = parse_amount(text.substr(0, comma), where);
    if (amount.value > 0) list.push_back(amount);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

std::string to_text(const Amounts& amounts) {
  if (amounts.empty()) return "0";
  std::string text;
  for (const Amount& a : amounts) {
    const bool billions = a.value >= 1e9 && std::fmod(a.value, 1e9) == 0;
    const bool millions = !billions && a.value >= 1e6 && std::fmod(a.value, 1e6) == 0;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ",",
                        a.value / (billions   ? 1e9
                                   : millions ? 1e6
                                              : 1),
                        billions   ? "G"
                        : millions ? "M"
                                   : "",
                        letter_of(a.unit));
  }
  return text;
}

TextForm<Amounts> amounts_form() {
  return {parse_amounts, to_text};
}

double measured(const Position& at, Unit unit) {
  switch (unit) {
    case Unit::updates:
      return static_cast<double>(at.updates);
    case Unit::epochs:
      return static_cast<double>(at.epochs);
    case Unit::minutes:
      return at.minutes;
    case Unit::tokens:
      return static_cast<double>(at.tokens);
  }
  return 0;
}

bool reached(const Amounts& amounts, const Position& at) {
  return std::any_of(amounts.begin(), amounts.end(), [&](const Amount& a) { return measured(at, a.unit) >= a.value; });
}

bool due(const Amounts& amounts, const Position& before, const Position& now) {
  return std::any_of(amounts.begin(), amounts.end(), [&](const Amount& a) {
    return std::floor(measured(now, a.unit) / a.value) > std::floor(measured(before, a.unit) / a.value);
  });
}

}  // namespace tril::train
