// The keys of experts in config.json of switch_transformers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/families/t5_config.h"
#include "model/spec/config_checks.h"
#include "model/spec/config_reader.h"

namespace tril::model {

/// Reads the experts and the activation of `k`; its numbers of layers are set.
void read_experts(ConfigReader& reader, T5Config& k);
/// Writes them to `config`; its tie_word_embeddings means that outputs are scaled.
void write_experts(const T5Config& k, nlohmann::ordered_json& config);
/// @throws Error(usage) naming the key that is wrong
void validate_experts(const SwitchExperts& experts, const ConfigChecks& checks);

}  // namespace tril::model
