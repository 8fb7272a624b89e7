// Texts, patterns and numbers into a grammar's bytes, as they stand or as the inside of a JSON string.
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
  /// @param alphabet  the characters that may be used: those that a vocabulary can spell
  GrammarWriter(Grammar& grammar, CharSet alphabet) : grammar_(&grammar), alphabet_(std::move(alphabet)) {}

  Grammar& grammar() { return *grammar_; }
  /// The first character that was to be written and that the alphabet lacks, in words; "" where none was.
  const std::string& lacking() const { return lacking_; }

  /// Whether the alphabet has all that `text` consists of.
  bool can_write(std::string_view text) const;
  /// `text` as it stands. @throws Error(usage) for a character outside the alphabet
  void write_text(std::string_view text, std::int32_t from, std::int32_t to);
  /// What the pattern allows, as it stands.
  void write_pattern(const Pattern& pattern, std::int32_t from, std::int32_t to);
  /// What the pattern allows, in quotes and with JSON's escapes. A character that may be any may also be written \u00e9.
  void write_json_string(const Pattern& pattern, std::int32_t from, std::int32_t to);

  /// Whole numbers from `least` to `most` that `multiple_of` divides, without leading zeros. Where a bound is missing,
  /// numbers of up to 15 digits.
  void write_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most, std::int64_t multiple_of,
                      std::int32_t from, std::int32_t to);
  /// A bound of decimal numbers, and whether it is one of them.
  struct Bound {
    double value;
    bool included;
  };
  /// Decimal numbers between the bounds, without an exponent, of at most 15 digits: any two of those differ as doubles.
  void write_decimals(const std::optional<Bound>& least, const std::optional<Bound>& most, std::int32_t from,
                      std::int32_t to);
  /// Which of the decimal numbers with as many digits behind the point: those of which `multiple_of`, in units of the last
  /// digit, is a divisor, or those of which it is none.
  struct Steps {
    int fraction;
    std::int64_t multiple_of;
    bool divides = true;
  };
  /// Those between the bounds, as write_decimals() has them.
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

  /// Numbers of `digits` digits from `least` to `most`, a point before the last `fraction`.
  struct Digits {
    int count;
    Steps steps;
  };
  void write_digits(const Digits& form, std::int64_t least, std::int64_t most, std::int32_t from, std::int32_t to);
  void write_magnitudes(std::int64_t least, std::int64_t most, const Steps& steps, std::int32_t from, std::int32_t to);

  Grammar* grammar_;
  CharSet alphabet_;
  std::string lacking_;
  std::map<std::pair<std::u32string, Form>, std::int32_t> rules_;  // of sets of characters
};

/// Texts that the regular expression matches as a whole.
Grammar regex_grammar(std::string_view regex, const CharSet& alphabet = all_chars());

}  // namespace tril::search
