// Words of a text, which marks are put around and between.
#pragma once

#include <string_view>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

/// The words of a text in order: everything except white space, cut where a word may begin or end
/// (unicode/word_boundary.h), but not within a grapheme.
std::vector<Range> words_of(std::string_view text);

bool is_blank(char c);
bool is_blank(std::string_view text);  ///< true if it has only white space

}  // namespace tril::document
