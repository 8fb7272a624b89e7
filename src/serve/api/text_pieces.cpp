#include "serve/api/text_pieces.h"

#include <algorithm>

#include "unicode/sentences.h"
#include "unicode/trim.h"

namespace tril::serve {

std::size_t offset_of(std::string_view part, std::string_view text) {
  return static_cast<std::size_t>(part.data() - text.data());
}

void cut_line(std::string_view line, bool sentences, const std::function<void(std::string_view, bool)>& add) {
  const auto add_some = [&](std::string_view part, bool translated) {
    if (!part.empty()) add(part, translated);
  };
  const std::string_view text = trim(line);
  if (text.empty()) return add_some(line, false);
  const std::size_t begin = offset_of(text, line);
  add_some(line.substr(0, begin), false);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view sentence = rest.substr(0, sentences ? sentence_end(rest) : rest.size());
    add_some(sentence, true);
    rest.remove_prefix(sentence.size());
    const std::size_t spaces = offset_of(trim(rest), rest);  // the line has none at its end
    add_some(rest.substr(0, spaces), false);
    rest.remove_prefix(spaces);
  }
  add_some(line.substr(begin + text.size()), false);
}

std::vector<TextPiece> pieces_of_text(std::string_view text, Split split) {
  if (split == Split::none) return {{std::string(text), !trim(text).empty()}};
  std::vector<TextPiece> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    cut_line(text.substr(0, end), split == Split::sentences, [&](std::string_view part, bool translated) {
      pieces.push_back({std::string(part), translated});
    });
    if (end < text.size()) pieces.push_back({"\n", false});
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return pieces;
}

}  // namespace tril::serve
