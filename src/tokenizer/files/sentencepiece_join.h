// Joins the pieces of a SentencePiece model into text, as the library does.
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

  /// Marks become spaces, without the one that encoding put in front; runs of byte pieces become characters.
  std::string join(const std::vector<std::string>& pieces) const;

 private:
  bool drops_first_space_, drops_more_spaces_;
};

}  // namespace tril
