#include "tokenizer/files/sentencepiece_join.h"

#include "format/sentencepiece_file.h"
#include "tokenizer/pipeline/piece_decoder.h"
#include "unicode/characters.h"

namespace tril {
namespace {}  // namespace

std::string SentencePieceJoin::join(const std::vector<std::string>& pieces) const {
  std::string text, bytes;
  bool at_start = drops_first_space_;
  const auto flush = [&] {
    text += valid_utf8(bytes);
    bytes.clear();
  };
  for (const std::string& piece : pieces) {
    if (const int byte = byte_of_piece(piece); byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    flush();
    std::string_view rest = piece;
    if (!text.empty()) at_start = false;
    if (at_start && rest.starts_with(space_mark)) {
      rest.remove_prefix(space_mark.size());
      at_start = drops_more_spaces_;
    }
    std::string shown(rest);
    replace_all(shown, space_mark, " ");
    text += shown;
  }
  flush();
  return text;
}

}  // namespace tril
