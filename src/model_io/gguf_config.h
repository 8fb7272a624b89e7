// Converts GGUF's metadata to config.json and generation_config.json, and back. Both directions use one list of keys
// (gguf_keys()). Code here handles what is not one key: rotary scalings, head sizes, properties of an architecture.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/generation_config.h"

namespace tril::model {

/// config.json of the model in a file. Every key of the file's architecture is read, known to have no effect, or refused
/// by name.
nlohmann::json config_of_gguf(const GgufFile& file);

/// generation_config.json: the special tokens, and the publisher's sampling settings (general.sampling.*).
nlohmann::json generation_config_of_gguf(const GgufFile& file);

/// general.sampling.* with the publisher's settings; empty if the publisher does not sample.
GgufMetadata gguf_sampling(const GenerationConfig& published);

/// The number of layers in a config.json from config_of_gguf().
std::int64_t layers_of(const nlohmann::json& config);
/// The number of experts in each layer, under either of its two names in config.json.
std::int64_t experts_of(const nlohmann::json& config);

/// Everything except the weights that is written to a file.
struct GgufHeader {
  std::string architecture;
  GgufMetadata metadata;            ///< only of the architecture
  std::vector<float> rope_factors;  ///< the tensor rope_freqs.weight; empty: none
  std::vector<float> rope_factors_long, rope_factors_short;
  std::string warning;  ///< where llama.cpp's results will differ; "": nowhere
};

/// The metadata of a model. @throws Error(usage) naming a key of config.json that llama.cpp does not support
GgufHeader gguf_header_of(const nlohmann::json& config);

}  // namespace tril::model
