// The words that matter beside a full stop: abbreviations, and words that begin sentences, in 34 languages. The lists are in
// sentence_word_lists.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tril {

/// The lists of words. All are in lower case, except the words that follow a full stop.
enum class WordKind : std::uint8_t {
  never_last,      ///< a sentence never ends after it: "Dr.", "z.B."
  before_number,   ///< the sentence continues if a number follows: "Fig. 2"
  inner,           ///< the sentence continues, unless a word of `beginning` follows: "vs.", "approx."
  unit,            ///< like `inner`, but it ends the sentence after a number: "1799 г.", "5 in."
  last,            ///< letters with full stops that end a sentence if a capital follows: "p.m."
  label,           ///< before a single letter that is no initial: "vitamin C."
  beginning,       ///< begins sentences and is no name: "The", "Der"
  counted,         ///< after an ordinal number: "3. Oktober"
  before_counted,  ///< before an ordinal number: "im 19. Jahrhundert"
};
inline constexpr std::size_t word_kinds = 9;

/// The words of one language, or of all if it is not known.
class SentenceWords {
 public:
  /// @param language  a code of ISO 639 or BCP 47. With "", or a language without lists, the words of all languages
  ///                  count, except those that are common words elsewhere
  explicit SentenceWords(std::string_view language);

  bool has(WordKind kind, std::string_view word) const;
  /// Whether a numeral with a full stop is an ordinal number in this language.
  bool has_ordinals() const { return ordinals_; }
  /// Whether texts may be in English.
  bool may_be_english() const { return english_; }

 private:
  std::uint64_t languages_;  ///< a bit for each, as in the table
  bool ordinals_ = false, english_ = true;
};

}  // namespace tril
