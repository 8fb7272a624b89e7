// The best path through a text: the segmentation into pieces with the highest sum of scores, found from left to right [Viterbi 1967]:
//
//   best(0) = 0,   best(j) = max over pieces from i to j of best(i) + score(piece)
//
// A character that is not a piece has the unknown score. On ties the path that was found first is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/element.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "unicode/characters.h"

namespace tril {

struct PieceScores {
  const PrefixTree& pieces;
  const std::vector<double>& scores;  ///< by id of a piece
  std::int32_t unknown_id;            ///< -1: every character must be a piece
  double unknown_score;
};

/// Fills best[j] with the last piece of the best path to byte j: its begin, its id, and the path's score.
/// @tparam Real  the precision in which scores of paths are kept
/// @return false if the text has an unknown character and there is no unknown id
template <class Real>
bool find_best_path(std::string_view text, const PieceScores& model, std::vector<EncodeScratch::Node>& best) {
  constexpr std::int32_t none = -1;
  best.assign(text.size() + 1, {0, none, none});
  const auto offer = [&](std::size_t begin, std::size_t end, double score, std::int32_t id) {
    EncodeScratch::Node& node = best[end];
    if (node.begin != none && !(score > node.score)) return;
    node = {static_cast<double>(static_cast<Real>(score)), static_cast<std::int32_t>(begin), id};
  };
  for (std::size_t at = 0; at < text.size();) {
    const double here = best[at].score;
    const std::size_t length = character_at(text, at).length;
    bool known = false;
    model.pieces.for_each_prefix(text.substr(at), [&](std::size_t bytes, std::int32_t id) {
      offer(at, at + bytes, element(model.scores, id) + here, id);
      known = known || bytes == length;
    });
    if (!known) {
      if (model.unknown_id == none) return false;
      offer(at, at + length, static_cast<Real>(model.unknown_score) + static_cast<Real>(here), model.unknown_id);
    }
    at += length;
  }
  return true;
}

}  // namespace tril
