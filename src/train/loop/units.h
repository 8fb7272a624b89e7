// Amounts of training with their unit, in Marian's notation: 8000u updates, 30e epochs, 10m minutes, 5Gt target tokens;
// a factor K, M or G may precede the unit, and a bare number means updates. Several are separated by commas: whichever
// comes first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace tril::train {

enum class Unit : std::uint8_t { updates, epochs, minutes, tokens };

struct Amount {
  double value = 0;
  Unit unit = Unit::updates;
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// Whichever comes first; none: never.
using Amounts = std::vector<Amount>;

/// The progress of a run.
struct Position {
  std::int64_t updates = 0;
  std::int64_t epochs = 0;  ///< completed
  double minutes = 0;
  std::int64_t tokens = 0;  ///< target tokens, including </s>
};

/// "8000u" -> 8000 updates. @param where  names the option in an error. @throws Error(usage)
Amount parse_amount(std::string_view text, const std::string& where);
/// "30e,10m" -> both; "0" -> none. @throws Error(usage), also for an empty text, such as that of an unset variable
Amounts parse_amounts(std::string_view text, const std::string& where);
/// "30e,10m", as parse_amounts() reads it.
std::string to_text(const Amounts& amounts);
/// Both, for an option.
TextForm<Amounts> amounts_form();

/// The run's progress in the amount's unit.
double measured(const Position& at, Unit unit);
/// Whether any of the amounts is reached; never for an empty list.
bool reached(const Amounts& amounts, const Position& at);
/// Whether a multiple of any of the amounts is in (before, now]: something done "every 500u" is due.
bool due(const Amounts& amounts, const Position& before, const Position& now);

}  // namespace tril::train
