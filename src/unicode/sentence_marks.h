// The marks that end sentences or clauses, by Unicode's Sentence_Break property [UAX #29] and, for marks newer than the
// installed ICU, by a list.
#pragma once

#include <cstdint>

namespace tril {

/// The role of a character at the end of a sentence.
enum class SentenceMark : std::uint8_t {
  none,
  stop,   ///< a full stop, which abbreviations and numbers also have
  end,    ///< ends a sentence if white space follows
  always  ///< always ends one
};

/// @param before  the character before it: a semicolon is a question mark only after a Greek letter
SentenceMark sentence_mark(char32_t c, char32_t before);

/// Whether the character closes a quotation or bracket directly after a mark. In scripts without spaces between
/// sentences, an ambiguous quote opens the next sentence.
bool closes_after(char32_t c, SentenceMark mark);

/// The rank of a mark inside sentences as a place to cut.
enum class ClauseMark : std::uint8_t {
  none,
  comma,
  strong  ///< a semicolon, a colon or the like
};
ClauseMark clause_mark(char32_t c);

/// Whether a clause mark needs no white space after it, as Chinese and Japanese marks do not.
bool is_wide_mark(char32_t c);

/// Whether the letter belongs to a script without spaces between words: Han, kana, Thai, Lao, Khmer, Burmese.
bool is_written_without_spaces(char32_t c);

/// Whether it is a letter of Chinese or Japanese: Han or kana.
bool is_ideographic(char32_t c);

/// White space by Unicode; Character::not_utf8 is none.
bool is_white_space(char32_t c);

}  // namespace tril
