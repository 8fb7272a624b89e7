// The mixtures of experts of Granite's families.
#pragma once

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Reads granite's keys and those of its experts, which files hold in one tensor for each layer.
LlamaLikeConfig read_granitemoe(ConfigReader& reader, LlamaLikeConfig defaults);
/// Reads shared_intermediate_size, the width of a shared expert that files hold in two tensors; 0: there is none. `otherwise` is
/// that of a file without the key.
void read_granite_shared_expert(ConfigReader& reader, LlamaLikeConfig& k, std::int64_t otherwise = 0);

}  // namespace tril::model
