// Numbers as people write them out, in three languages.
#pragma once

#include <cstdint>
#include <string>

namespace tril::train {

enum class Language : std::uint8_t { english, german, french };

/// Which of a language's spellings of a number to use.
enum class Spelling : std::uint8_t {
  plain,   ///< "one hundred five", "einhundertfünf", "cent cinq"
  custom,  ///< "one hundred and five", "hundertfünf"; French has only one
};

/// 0 to 9999 in words: "one thousand two hundred thirty-four", "eintausendzweihundertvierunddreißig",
/// "mille deux cent trente-quatre".
std::string cardinal(Language language, int n, Spelling spelling = Spelling::plain);

/// 1 to 31, the day of a month: "third", "dritte" (der dritte Mai), "trois" and "premier" (le premier mai).
std::string day_in_words(Language language, int day);

}  // namespace tril::train
