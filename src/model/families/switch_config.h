// What switch_transformers says of its experts in config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/families/t5_config.h"
#include "model/spec/config_reader.h"

namespace tril::model {

/// The experts and the activation of `k`, whose numbers of layers are read.
void read_experts(ConfigReader& reader, T5Config& k);
/// The other way; tie_word_embeddings says that outputs are scaled.
void write_experts(const T5Config& k, nlohmann::ordered_json& config);
/// @throws Error(usage) naming the key that is wrong
void validate_experts(const SwitchExperts& experts, const std::string& where);

}  // namespace tril::model
