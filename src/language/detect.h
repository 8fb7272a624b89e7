// Detects the language of a text, among given languages, with a calibrated confidence: of answers with a confidence of 80,
// about 80 in 100 are right (docs/languages.md has the measurements).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/alphabet.h"
#include "language/code.h"

namespace tril {

/// Below this confidence, an answer is more likely wrong than right, and the language counts as unknown.
inline constexpr double least_confidence = 50;

/// BCP 47's code for an unknown language.
inline constexpr const char* unknown_language = "und";

struct LanguageGuess {
  std::size_t language = 0;  ///< the place among the detector's languages
  double confidence = 0;     ///< 0 to 100
};

struct Detection {
  std::vector<LanguageGuess> guesses;  ///< those with a confidence of at least 1, the best first
  /// A language that is not among the detector's and is likelier than all of them, with its confidence.
  std::optional<Language> other;
  double other_confidence = 0;
  bool has_letters = false;  ///< a text without letters ("12:30") is of any language; it has no guesses

  /// The best guess if its confidence is at least least_confidence.
  const LanguageGuess* sure() const {
    return !guesses.empty() && guesses[0].confidence >= least_confidence ? guesses.data() : nullptr;
  }
};

/// Whether a detector can find the language: CLD2 knows it.
bool is_detectable(const Language& language);

class LanguageDetector {
 public:
  /// @param languages  those that may be the answer; empty: all that CLD2 knows
  explicit LanguageDetector(std::vector<Language> languages);

  const std::vector<Language>& languages() const { return languages_; }
  /// Any bytes; the first 10,000 are read. Invalid UTF-8 is left out.
  Detection detect(std::string_view text) const;

 private:
  /// A language that CLD2 scores (scored_languages()).
  struct Scored {
    std::optional<std::size_t> place;  ///< among languages_
    Alphabet alphabet;
  };
  std::optional<std::size_t> place_of(const Language& language) const;

  std::vector<Language> languages_;
  std::vector<Scored> scored_;
};

}  // namespace tril
