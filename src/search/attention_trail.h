// What the tokens of one sentence's hypotheses were made from: rows of cross-attention weights over its source. Hypotheses
// that begin alike share their beginnings, so this is a tree of tokens, a node for each row of each step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tril::search {

class AttentionTrail {
 public:
  /// One row, without tokens.
  void begin();
  /// The weights [rows, source tokens] with which each row's next token is chosen; none: nobody asks, and all calls do
  /// nothing.
  void look(std::span<const float> weights);
  /// The rows become rows parents[0], parents[1], ..., each a token longer.
  void follow(std::span<const std::int32_t> parents);
  /// [tokens, source tokens] of a hypothesis that ends with a token of this row's, chosen since look().
  std::vector<float> with_next(std::int32_t row) const;
  /// The same without that token.
  std::vector<float> so_far(std::int32_t row) const;

 private:
  struct Node {
    std::int32_t parent;
    std::size_t weights;  ///< where they begin
  };
  std::vector<float> path(std::int32_t node) const;

  std::size_t source_ = 0;  ///< tokens
  std::vector<float> weights_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> rows_, next_rows_;  ///< the node that each row has come to, -1: none
  std::vector<std::int32_t> looked_;            ///< the node of its next token
};

/// GNMT's coverage penalty [Wu et al. 2016, eq. 14]: beta * sum over source tokens of log(min(sum of the weights that it
/// got, 1)); tokens that got none are left out, as CTranslate2 has it. At most 0. attention [tokens, source tokens]
double coverage_penalty(std::span<const float> attention, std::size_t tokens, double beta);

}  // namespace tril::search
