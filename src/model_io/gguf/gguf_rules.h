// The tensors of each family in GGUF files. Names are those of ggml's gguf package (constants.py, tensor_mapping.py).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {

/// All tensors that a model with this config.json may have; a file may lack some.
/// @throws Error(usage) if GGUF has no architecture for the family
std::vector<GgufRule> gguf_rules(const nlohmann::json& config);

/// The gated feed-forward that granite's files call the shared expert. @param end  of GGUF's names: "_shexp" with other experts
std::vector<GgufRule> granite_shared_expert(const std::string& end);

}  // namespace tril::model
