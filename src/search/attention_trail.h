// The cross-attention weights of each token of one sentence's hypotheses over its source. Hypotheses share their common
// prefixes, so this is a tree with one node for each row of each step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tril::search {

class AttentionTrail {
 public:
  /// Starts with one row that has no tokens.
  void begin();
  /// Records the weights [rows, source tokens] of each row's next token. Empty: attention is not recorded, and all other
  /// calls do nothing.
  void look(std::span<const float> weights);
  /// The rows become rows parents[0], parents[1], ..., each longer by one token.
  void follow(std::span<const std::int32_t> parents);
  /// The weights [tokens, source tokens] of a hypothesis: the tokens of this row and the token chosen since look().
  std::vector<float> with_next(std::int32_t row) const;
  /// The same without that token.
  std::vector<float> so_far(std::int32_t row) const;

 private:
  struct Node {
    std::int32_t parent;
    std::size_t weights;  ///< their offset in weights_
  };
  std::vector<float> path(std::int32_t node) const;

  std::size_t source_ = 0;  ///< tokens
  std::vector<float> weights_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> rows_, next_rows_;  ///< the node of each row's last token; -1: it has none
  std::vector<std::int32_t> looked_;            ///< the node of each row's next token
};

/// GNMT's coverage penalty [Wu et al. 2016, eq. 14]: beta * sum over source tokens s of log(min(c_s, 1)), where c_s is the
/// sum of the attention weights on s. Tokens with c_s = 0 are left out, as in CTranslate2. The result is at most 0.
/// @param attention  [tokens, source tokens]
double coverage_penalty(std::span<const float> attention, std::size_t tokens, double beta);

}  // namespace tril::search
