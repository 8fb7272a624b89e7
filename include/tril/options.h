// Options by name: those that the program's commands have, with the same names, limits and defaults. docs/options.md describes
// them; `beam-size` there is "beam-size" here, and "beam_size" is the same. A name that does not exist, a name that is given
// twice, a value outside its limits, and options that contradict each other throw Error (usage) when the object that takes them is made.
#pragma once

#include <tril/export.h>
#include <tril/namespace.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

TRIL_NAMESPACE_BEGIN
/// The value of an option: true or false, a number, a text, or a list of texts.
class TRIL_API OptionValue {
 public:
  OptionValue(bool value);                      ///< true or false  NOLINT(google-explicit-constructor)
  OptionValue(double value);                    ///< a number  NOLINT(google-explicit-constructor)
  OptionValue(const char* text);                ///< a text, or a number as text  NOLINT(google-explicit-constructor)
  OptionValue(std::string text);                ///< a text, or a number as text  NOLINT(google-explicit-constructor)
  OptionValue(std::vector<std::string> texts);  ///< a list  NOLINT(google-explicit-constructor)
  /// An integer.
  OptionValue(std::signed_integral auto number)  // NOLINT(google-explicit-constructor)
      : texts_{std::to_string(number)} {}
  /// An integer.
  OptionValue(std::unsigned_integral auto number)  // NOLINT(google-explicit-constructor)
      : texts_{std::to_string(number)} {}

  /// Its text, or the texts of a list.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

/// An option with its value.
struct Option {
  std::string name;   ///< "beam-size"
  OptionValue value;  ///< 6
};

/// {{"beam-size", 6}, {"length-penalty", 0.8}, {"bad-words", std::vector<std::string>{"um", "uh"}}}
using Options = std::vector<Option>;

/// What an option is, for lists and forms.
struct OptionInfo {
  std::string name;                  ///< "beam-size"
  std::string help;                  ///< one line
  std::string expected;              ///< "an integer, from 1 to 1000"
  std::string default_text;          ///< "": unset, which `help` explains
  std::vector<std::string> choices;  ///< the allowed texts, if they are few
};

TRIL_NAMESPACE_END
