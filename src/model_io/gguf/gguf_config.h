// Converts GGUF's metadata to config.json and generation_config.json; gguf_header.h has the way back. Both use one list of
// keys (gguf_keys()). Code here handles what is not one key: head sizes, layers with windows, properties of an architecture.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "format/gguf.h"
#include "format/gguf_write.h"
#include "model_io/contents/generation_config.h"
#include "model_io/gguf/gguf_reader.h"

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
/// Likewise the number of query heads, and the width of the residual stream.
std::int64_t heads_of(const nlohmann::json& config);
std::int64_t d_model_of(const nlohmann::json& config);
/// Sets the size of a head, from the key or from the width.
void read_head_size(GgufReader& reader, nlohmann::json& config);
/// Layers that predict further tokens are counted by block_count. tril leaves them out.
void read_further_layers(GgufReader& reader, nlohmann::json& config);
/// The number of experts in each layer, under any of its names in config.json.
std::int64_t experts_of(const nlohmann::json& config);

}  // namespace tril::model
