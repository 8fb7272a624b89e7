// Writes texts, patterns and numbers into a grammar, either plain or as the inside of a JSON string.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "grammar/automata/grammar.h"
#include "grammar/expressions/pattern.h"

namespace tril::search {

class GrammarWriter {
 public:
  /// @param alphabet  the characters that the vocabulary can spell; no others are written
  GrammarWriter(Grammar& grammar, CharSet alphabet) : grammar_(&grammar), alphabet_(std::move(alphabet)) {}

  Grammar& grammar() { return *grammar_; }
  /// The first character that the alphabet lacked, in words; "" if none.
  const std::string& lacking() const { return lacking_; }

  /// Whether the alphabet has every character of `text`.
  bool can_write(std::string_view text) const;
  /// Writes `text` unescaped. @throws Error(usage) for a character outside the alphabet
  void write_text(std::string_view text, std::int32_t from, std::int32_t to);
  /// Writes the pattern's texts unescaped.
  void write_pattern(const Pattern& pattern, std::int32_t from, std::int32_t to);
  /// Writes the pattern's texts in quotes, with JSON's escapes. Where any character may be, \u00e9 is also allowed.
  void write_json_string(const Pattern& pattern, std::int32_t from, std::int32_t to);

  /// Whole numbers from `least` to `most` that `multiple_of` divides, without leading zeros. A missing bound allows
  /// numbers of up to 15 digits.
  void write_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most, std::int64_t multiple_of,
                      std::int32_t from, std::int32_t to);
  /// A bound of decimal numbers, inclusive or exclusive.
  struct Bound {
    double value;
    bool included;
  };
  /// Decimal numbers between the bounds, without an exponent, of at most 15 digits: any two of those differ as doubles.
  void write_decimals(const std::optional<Bound>& least, const std::optional<Bound>& most, std::int32_t from,
                      std::int32_t to);
  /// A step of decimal numbers with `fraction` digits after the point: the multiples of `multiple_of`, in units of the
  /// last digit, or all others.
  struct Steps {
    int fraction;
    std::int64_t multiple_of;
    bool divides = true;
  };
  /// The numbers of `steps` between the bounds, as in write_decimals().
  void write_steps(const Steps& steps, const std::optional<Bound>& least, const std::optional<Bound>& most,
                   std::int32_t from, std::int32_t to);

 private:
  enum class Form : std::uint8_t { plain, json };
  void write_states(const Pattern& pattern, Form form, std::int32_t from, std::int32_t to);
  void write_chars(const CharSet& chars, Form form, std::int32_t from, std::int32_t to);
  std::int32_t rule_of(const CharSet& chars, Form form);
  void write_utf8(const CharRange& range, std::int32_t from, std::int32_t to);
  void write_escapes(const CharSet& chars, std::int32_t from, std::int32_t to);
  void write_any_escape(std::int32_t from, std::int32_t to);

  /// Numbers of `count` digits, with a point before the last `fraction`.
  struct Digits {
    int count;
    Steps steps;
  };
  void write_digits(const Digits& form, std::int64_t least, std::int64_t most, std::int32_t from, std::int32_t to);
  void write_magnitudes(std::int64_t least, std::int64_t most, const Steps& steps, std::int32_t from, std::int32_t to);

  Grammar* grammar_;
  CharSet alphabet_;
  std::string lacking_;
  std::map<std::pair<std::u32string, Form>, std::int32_t> rules_;  // for sets of characters
};

/// The texts that the regular expression matches as a whole.
Grammar regex_grammar(std::string_view regex, const CharSet& alphabet = all_chars());

}  // namespace tril::search
