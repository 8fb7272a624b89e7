// Word boundaries in text of any script.
#pragma once

#include <cstddef>
#include <string_view>

namespace tril {

/// True if a word may begin or end at byte `at` of a UTF-8 text (0 to its size): everywhere except between two letters, marks
/// or digits. If one of the two belongs to a script without spaces (Han, kana, Thai, ...), there is a boundary too.
bool is_word_boundary(std::string_view text, std::size_t at);

/// True if `text` begins with a letter, mark or digit of a script that separates words by spaces.
bool begins_with_word_character(std::string_view text);

}  // namespace tril
