// A decoder layer whose two sublayers read the same input.
#pragma once

#include <optional>
#include <string>

#include "nn/blocks.h"

namespace tril::nn {

/// h += SelfAttention(N1(h)) + FF(N2(h)) [GPT-J: Wang & Komatsuzaki 2021]; without N2 both read N1(h).
struct ParallelLayer {
  std::string name;
  Attention self_attention;
  Norm self_norm;
  FeedForward feed_forward;
  std::optional<Norm> feed_forward_norm;
  float dropout = 0;  ///< on each sublayer's result, before it is added

  /// h [N, d_model]
  Tensor forward(Context& c, const Tensor& h, const LayerCall& call, std::int64_t layer,
                 const Attention::KeysValues& memory = {}) const;
};

}  // namespace tril::nn
