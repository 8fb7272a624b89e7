// The architectures of GGUF, and the keys of its metadata that correspond to one key of config.json. Names: llama.cpp's
// `LLM_KV`, the gguf package's constants.py.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tril::model {

struct GgufKey {
  std::string gguf;  ///< without the architecture: "embedding_length"
  std::string hf;    ///< "hidden_size"; the name may occur several times, with equal values
  enum class Kind : std::uint8_t { count, number, flag } kind = Kind::count;
  bool required = true;
  double only = 0;  ///< not 0: the only value that the family has (of a flag: true); config.json has no such key
};

/// True if the list has the name.
bool is_any(std::string_view name, std::initializer_list<std::string_view> names);

/// llama.cpp's architecture for a family: "llama" for mistral; "" if there is none.
std::string_view gguf_architecture(std::string_view model_type);
/// The family that a file of an architecture is read as: "gemma3_text" for gemma3, "llama" for llama; "" if there is none.
std::string_view gguf_family(std::string_view architecture);
/// True for the families with latent attention, with routers of DeepSeek's kind, with a gated delta rule or with short
/// convolutions in some layers.
bool has_latent_attention(std::string_view model_type);
bool has_deepseek_router(std::string_view model_type);
bool has_delta_rule(std::string_view model_type);
bool has_short_convolutions(std::string_view model_type);
/// True for the families with Mamba-2 (gguf_mamba2.h).
bool has_mamba2(std::string_view model_type);
/// True for the families whose keys and weights are named in GPT's ways rather than in Llama's.
bool has_gpt_structure(std::string_view model_type);
/// All families with an architecture, and all architectures.
std::vector<std::string_view> gguf_families();
std::vector<std::string_view> gguf_architectures();

/// The keys of a family (config.json's model_type).
std::vector<GgufKey> gguf_keys(std::string_view model_type);

}  // namespace tril::model
