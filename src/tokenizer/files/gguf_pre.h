// llama.cpp's names (tokenizer.ggml.pre) for the ways in which BPE vocabularies split text into words, and the
// equivalent steps. Source: llm_tokenizer_bpe and llama_vocab::impl::load in llama.cpp; where a publisher's
// tokenizer.json does more, so does this (Qwen's normal form C, which llama.cpp leaves out).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

struct GgufPre {
  std::vector<std::string> names;  ///< the first is written; the others are synonyms
  std::vector<NormalizerStep> normalizers;
  std::vector<PreTokenizerStep> steps;
  bool ignore_merges = false;  ///< BpeParts::ignore_merges
  bool by_character = false;   ///< pieces are text, unknown characters bytes as "<0xE2>"; otherwise pieces are of bytes
  bool adds_bos = false;       ///< the default; by character: even if the file says no, as in llama.cpp
};

/// @throws Error naming `where` for an unknown name
const GgufPre& gguf_pre(std::string_view name, const std::string& where);

/// All names that gguf_pre() knows.
std::vector<std::string> gguf_pre_names();

/// The name for these steps, or "" if there is none.
std::string gguf_pre_name(const std::vector<NormalizerStep>& normalizers, const std::vector<PreTokenizerStep>& steps,
                          bool ignore_merges);

}  // namespace tril
