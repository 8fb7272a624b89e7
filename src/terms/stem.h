// Inflected words: a simple rule that compares words without their endings.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "language/code.h"

namespace tril::terms {

/// The endings of inflection in a language; none if the language has none here. All are folded (NFKC_Casefold).
std::span<const std::string_view> endings_of(std::string_view language);

/// The languages with endings, by their ISO 639-1 codes.
std::span<const std::string_view> languages_with_endings();

/// A folded word without its endings. The longest ending of the list is removed repeatedly, as long as three characters
/// remain (of Hangul: two). This is coarser than morphological analysis ("news" is "new"), and does not undo changes
/// within a word ("Haus", "Häuser"). Two words match if the results are equal.
std::string stem_of(std::string_view folded, std::span<const std::string_view> endings);

}  // namespace tril::terms
