#include "document/segments/words.h"

#include <algorithm>

#include "unicode/characters.h"
#include "unicode/graphemes.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::document {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool is_blank(std::string_view text) {
  return trim(text).empty();
}

std::vector<Range> words_of(std::string_view text) {
  const CharacterKinds& kinds = CharacterKinds::table();
  std::vector<Range> words;
  bool open = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_grapheme(text, at);
    if ((kinds(character_at(text, at).code) & kind_space) != 0) {
      open = false;
    } else if (open && !is_word_boundary(text, at)) {
      words.back().end = end;
    } else {
      words.push_back({at, end});
      open = true;
    }
    at = end;
  }
  return words;
}

}  // namespace tril::document
