// Scores of languages for a text, by the tables of the library CLD2 [Sites 2013: Compact Language Detector 2]: for groups of four
// letters, for words, and for single Chinese, Japanese and Korean characters, each table lists the likeliest languages.
//
// CLD2's own answer is the best of all its languages. To choose among a few languages, the scores of all are needed, which its
// public function does not return. So its tables are read here, with the functions of its internal headers, which both
// distributions install.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "language/code.h"

namespace tril {

/// A language that CLD2 knows, in one of its scripts.
struct ScoredLanguage {
  Language language;  ///< with a script if it is not the usual one: "uz" in Cyrl
  double score = 0;   ///< sum over groups of a quantised logarithm of probability; 0: no group is likely in it
};

struct GramScores {
  std::vector<ScoredLanguage> languages;  ///< those with a score
  double groups = 0;                      ///< how many groups the tables know
  bool has_letters = false;
};

/// Latin letters beside more letters of another script, such as names in Japanese, are left out.
/// @param text  valid UTF-8; only its beginning is read (10,000 bytes), so the time is bounded
GramScores gram_scores(std::string_view text);

/// All languages that CLD2 knows.
const std::vector<Language>& scored_languages();

}  // namespace tril
