// What the families with latent attention share.
#pragma once

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// The values of absent keys in read_deepseek().
struct LatentSizes {
  std::int64_t own = 128, values = 128, query_rank = 1536, rank = 512, rotated = 64;
  /// True if head_dim is another name of qk_rope_head_dim. For the other families `transformers` replaces its value.
  bool reads_head_dim = false;
};

/// Llama's keys, and those of latent attention in all layers: its sizes and the scale of its scores.
LlamaLikeConfig read_deepseek(ConfigReader& reader, LlamaLikeConfig defaults, const LatentSizes& otherwise = {});

}  // namespace tril::model
