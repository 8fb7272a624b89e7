// Pieces of a SentencePiece model to text, as the library joins them.
#pragma once

#include <string>
#include <vector>

#include "format/sentencepiece_file.h"

namespace tril {

class SentencePieceJoin {
 public:
  explicit SentencePieceJoin(const SentencePieceFile& model)
      : drops_first_space_(model.add_dummy_prefix || model.remove_extra_whitespaces),
        drops_more_spaces_(model.remove_extra_whitespaces) {}

  /// Spaces for marks, without the space that encoding put in front; bytes' pieces in a row are their characters.
  std::string join(const std::vector<std::string>& pieces) const;

 private:
  bool drops_first_space_, drops_more_spaces_;
};

}  // namespace tril
