// What the families with latent attention share.
#pragma once

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// The values of absent keys in read_deepseek().
struct LatentSizes {
  std::int64_t own = 128, values = 128, query_rank = 1536, rank = 512, rotated = 64;
};

/// Llama's keys, and those of latent attention in all layers: its sizes and the scale of its scores.
LlamaLikeConfig read_deepseek(ConfigReader& reader, LlamaLikeConfig defaults, const LatentSizes& otherwise = {});

}  // namespace tril::model
