// The keys of GGUF's metadata that correspond to one key of config.json. Names: llama.cpp's `LLM_KV`, the gguf
// package's constants.py.
#pragma once

#include <cstdint>
#include <initializer_list>
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

/// True if the list has the name.
bool is_any(std::string_view name, std::initializer_list<std::string_view> names);

/// llama.cpp's architecture for a family: "llama" for mistral; "" if there is none.
std::string_view gguf_architecture(std::string_view model_type);
/// The family that a file of an architecture is read as: "gemma3_text" for gemma3, "llama" for llama; "" if there is none.
std::string_view gguf_family(std::string_view architecture);
/// All families with an architecture, and all architectures.
std::vector<std::string_view> gguf_families();
std::vector<std::string_view> gguf_architectures();

/// The keys of a family (config.json's model_type).
std::vector<GgufKey> gguf_keys(std::string_view model_type);

}  // namespace tril::model
