// GGUF's metadata <-> what config.json and generation_config.json say: one list of keys for both ways (gguf_keys()), and
// what no pair of keys says by itself: rotary scalings, sizes of heads, what an architecture implies.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "format/gguf.h"
#include "model_io/generation_config.h"

namespace tril::model {

/// config.json of the model in a file. Every key of the file's architecture is read, says nothing about results, or is
/// refused by name.
nlohmann::json config_of_gguf(const GgufFile& file);

/// generation_config.json: ids that begin and end texts, and the publisher's sampling (general.sampling.*).
nlohmann::json generation_config_of_gguf(const GgufFile& file);

/// general.sampling.* of what a publisher samples with, where tokens are sampled.
GgufMetadata gguf_sampling(const GenerationConfig& published);

/// Layers that a config.json made by config_of_gguf() has.
std::int64_t layers_of(const nlohmann::json& config);

/// What the writer has to put into a file besides the weights.
struct GgufHeader {
  std::string architecture;
  GgufMetadata metadata;            ///< of the architecture alone
  std::vector<float> rope_factors;  ///< the tensor rope_freqs.weight; empty: none
  std::vector<float> rope_factors_long, rope_factors_short;
  std::string warning;  ///< what llama.cpp computes otherwise, and from where on; "": nothing
};

/// The metadata of a model; Error(usage) where config.json asks for something that llama.cpp would not compute.
GgufHeader gguf_header_of(const nlohmann::json& config);

}  // namespace tril::model
