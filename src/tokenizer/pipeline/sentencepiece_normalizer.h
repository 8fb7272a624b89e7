// The normal form that a SentencePiece model splits: characters are mapped, spaces become marks, user-defined pieces
// stay unchanged.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "format/sentencepiece_file.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "unicode/character_map.h"

namespace tril {

/// The pieces of `file` whose type satisfies `wants`, with their ids.
template <class Wants>
PrefixTree tree_of_pieces(const SentencePieceFile& file, const Wants& wants) {
  std::vector<std::pair<std::string_view, std::int32_t>> strings;
  for (std::size_t i = 0; i < file.pieces.size(); ++i)
    if (wants(file.pieces[i].type)) strings.emplace_back(file.pieces[i].text, static_cast<std::int32_t>(i));
  return PrefixTree(std::move(strings));
}

class SentencePieceNormalizer {
 public:
  /// @throws Error naming `where` for a damaged character map
  SentencePieceNormalizer(const SentencePieceFile& file, const std::string& where);

  /// Replaces `out`.
  void apply(std::string_view text, std::string& out) const;
  /// The user-defined pieces.
  const PrefixTree& frozen() const { return frozen_; }

 private:
  struct Next {
    std::string_view text;  // in its normal form
    std::size_t bytes = 0;  // of the original text
  };
  std::size_t plain_run(std::string_view text) const;
  Next take(std::string_view text) const;

  CharacterMap map_;
  PrefixTree frozen_;
  std::string space_;
  bool dummy_, behind_, one_space_;
  std::array<bool, 128> plain_{};
};

}  // namespace tril
