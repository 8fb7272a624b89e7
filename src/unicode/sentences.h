// Where sentences end, whatever the language: behind the marks of Unicode's Sentence_Break property [UAX #29], with what
// closes there (quotes, brackets), unless the text shows that the sentence goes on: a small letter, an abbreviation, an
// initial, a number that counts ("3. Oktober", "No. 5"). The language is not known, so that what is the same in all of
// them decides, and lists of words where that is not enough.
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// Behind which byte the first sentence of `line` ends; its size where it is but one. White space behind the end is not
/// part of the sentence. Line ends in it are white space like any other, but a paragraph separator (U+2029) ends a sentence.
/// . ! ? and the dots of an omission end a sentence where white space follows; the marks of scripts that write without spaces
/// or have marks of their own (Han, kana, Devanagari, Arabic, Ethiopic, Burmese, ...) wherever they are; of Greek, its
/// question mark.
std::size_t sentence_end(std::string_view line);

}  // namespace tril
