// Terms: phrases of a source language, each with its translation, and how they are found in texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tril::terms {

/// A source phrase and the translation that it must have.
struct Term {
  std::string source, target;

  friend bool operator==(const Term&, const Term&) = default;
};

/// How a source phrase is compared with a text. A later kind also finds what an earlier one finds.
enum class Match : std::uint8_t {
  exact,        ///< the same characters (NFC)
  ignore_case,  ///< upper and lower case are equal (NFKC_Casefold of Unicode)
  stem,         ///< endings of inflection may differ, too (stem.h)
};

/// The names of Match in options, requests and files: exact, case, stem.
const std::vector<std::pair<std::string, Match>>& match_names();
/// The Match of this name, or nothing.
std::optional<Match> find_match(std::string_view name);
std::string_view name_of(Match match);

/// An entry of a glossary.
struct Entry {
  std::string source, target;
  /// How this entry is compared; nothing: as the glossary's user asks, but a phrase of capitals (`IT`) exactly.
  std::optional<Match> match = std::nullopt;
  std::int64_t line = 0;  ///< of its file, from 1; 0: unknown
};

/// The longest source or target phrase in bytes, as in DeepL's glossaries.
inline constexpr std::size_t longest_phrase = 1024;

}  // namespace tril::terms
