// The keys of GGUF's metadata that say the same as one key of config.json. Names: llama.cpp's `LLM_KV`, the gguf
// package's constants.py.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::model {

struct GgufKey {
  std::string gguf;  ///< without the architecture: "embedding_length"
  std::string hf;    ///< "hidden_size"
  enum class Kind : std::uint8_t { count, number } kind = Kind::count;
  bool required = true;
};

/// The architecture that llama.cpp runs a family as: "llama" for mistral; "" where there is none.
std::string_view gguf_architecture(std::string_view model_type);

/// The keys of a family (config.json's model_type).
std::vector<GgufKey> gguf_keys(std::string_view model_type);

}  // namespace tril::model
