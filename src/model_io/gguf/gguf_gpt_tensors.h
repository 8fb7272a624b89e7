// The names and forms of tensors (gguf_tensors.h) of the families with GPT's structure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {

/// gguf_rules() of such a family; empty for others.
std::vector<GgufRule> gpt_gguf_rules(const nlohmann::json& config);

}  // namespace tril::model
