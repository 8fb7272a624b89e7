// Finds the ends of sentences in any language: after the marks of Unicode's Sentence_Break property [UAX #29] and closing
// quotes or brackets, unless the text shows that the sentence continues: a small letter, an abbreviation, an initial, an
// ordinal or numbered item ("3. Oktober", "No. 5"). Rules common to all languages decide and, where these are not enough,
// word lists (sentence_words.h).
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// The byte after the first sentence of `line`; its size if it is a single sentence. White space after the end is not
/// part of the sentence. Line ends count as white space, but a paragraph separator (U+2029) ends a sentence. . ! ? and
/// an ellipsis end a sentence if white space follows; the marks of scripts that write without spaces or have marks of
/// their own (Han, kana, Devanagari, Arabic, Ethiopic, Burmese, ...) do so anywhere, as does the Greek question mark.
/// @param language  of the text, as a code of ISO 639 or BCP 47 ("de", "zh-Hans", "eng_Latn"): its abbreviations are
///                  used. "" or a language without lists: those of all languages
std::size_t sentence_end(std::string_view line, std::string_view language = {});

}  // namespace tril
