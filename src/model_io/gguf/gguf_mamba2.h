// Families with Mamba-2 in GGUF files: granitemoehybrid, bamba, falcon_h1, nemotron_h and mamba2 [llama.cpp, llm_build_mamba_base]. The
// kind of each layer follows from its number of key heads and the width of its feed-forward.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "model_io/gguf/gguf_header.h"
#include "model_io/gguf/gguf_keys.h"
#include "model_io/gguf/gguf_reader.h"
#include "model_io/gguf/gguf_tensors.h"

namespace tril::model {

/// The keys of a family's metadata that correspond to one key of its config.json.
std::vector<GgufKey> mamba2_gguf_keys(std::string_view model_type);

/// Completes the config.json of one of the families. @throws Error naming the key that is wrong
void read_gguf_mamba2(GgufReader& r, nlohmann::json& config);

/// The config.json of a granite or granitemoeshared that computes the same as a granitemoehybrid of attention alone; any other config
/// as it is.
nlohmann::json without_mamba2(const nlohmann::json& config);

/// "nemotron_h_moe" for a nemotron_h with experts, else the family's only architecture.
std::string_view mamba2_gguf_architecture(const nlohmann::json& config);

/// Adds what is not one key to the header. @throws Error(usage) for an option that llama.cpp does not support
void write_gguf_mamba2(const nlohmann::json& config, GgufHeader& h);

/// The rules of a family with Mamba-2; `rules` are those of Llama, or of granitemoe if the model has its experts.
std::vector<GgufRule> mamba2_gguf_rules(std::vector<GgufRule> rules, const nlohmann::json& config);

/// The number of values of a head of bamba that are rotated.
std::int64_t rotated_rows(const nlohmann::json& config);

/// Divisors of the frequencies of a head's pairs [head_dim / 2] that leave those of a head of `rotated` values, and no rotation of the
/// other pairs.
std::vector<float> part_rotary_factors(double theta, std::int64_t rotated, std::int64_t head_dim);

/// The number of groups of Mamba-2's heads.
std::int64_t mamba2_groups_of(const nlohmann::json& config);

/// Multiplies the weights of falcon_h1 by the factors of its config.json: GGUF has no keys for them.
void multiply_by_factors(const GgufRule& rule, const nlohmann::json& config, std::span<float> values);

}  // namespace tril::model
