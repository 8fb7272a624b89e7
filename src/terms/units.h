// A text as units that are compared: words, and single characters of everything else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tril::terms {

/// Bytes of a text that are compared as one.
struct Unit {
  std::size_t begin = 0, end = 0;
  bool space = false;  ///< a run of white space; all are equal
  bool word = false;   ///< a word of a script that separates words by spaces
};

/// The units of a UTF-8 text, in order, without gaps:
///   a word of a script with spaces, by unicode/word_boundary.h: letters, digits and their marks
///   a run of white space
///   any other character with the marks behind it: punctuation, and characters of scripts without spaces (Han, kana, Thai)
/// Invisible characters (soft hyphen, joiners: Default_Ignorable_Code_Point) belong to the unit before them and do not
/// divide a word.
std::vector<Unit> units_of(std::string_view text);

/// The unit's text for exact comparison: NFC, without invisible characters; white space is " ".
std::string exact_form(std::string_view unit);
/// Without regard to case: NFKC_Casefold; white space is " ".
std::string folded_form(std::string_view unit);

/// A whole text for comparison: the exact forms of its units, without white space at its ends.
std::string exact_text(std::string_view text);

}  // namespace tril::terms
