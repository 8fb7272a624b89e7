// What Cohere's families share.
#pragma once

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Reads the keys that all have. @param own  the family's names and head_dim (0: hidden_size / num_attention_heads); the rest is set
/// here @param theta  the default of the rotary base
LlamaLikeConfig read_cohere(ConfigReader& reader, LlamaLikeConfig own, double theta);
/// Keys of the authors' code, with the only values that cohere2 and cohere2_moe have.
void read_cohere2_publishers_keys(ConfigReader& reader);

}  // namespace tril::model
