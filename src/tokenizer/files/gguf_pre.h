// How llama.cpp names the ways in which vocabularies of merges cut text into words (tokenizer.ggml.pre), and the steps that
// do the same. Source: llm_tokenizer_bpe and llama_vocab::impl::load in llama.cpp; where a publisher's tokenizer.json does
// more, this does (Qwen's normal form C, which llama.cpp leaves out).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

struct GgufPre {
  std::vector<std::string> names;  ///< the first is what is written; the others mean the same
  std::vector<NormalizerStep> normalizers;
  std::vector<PreTokenizerStep> steps;
  bool ignore_merges = false;  ///< BpeParts::ignore_merges
  bool by_character = false;   ///< pieces are text, unknown characters bytes as "<0xE2>"; otherwise pieces are of bytes
  bool adds_bos = false;  ///< where the file does not say; by character: even where it says no, as llama.cpp has it
};

/// @throws Error naming `where` for one that is not known
const GgufPre& gguf_pre(std::string_view name, const std::string& where);

/// All names that gguf_pre() knows.
std::vector<std::string> gguf_pre_names();

/// The name of these steps, or "".
std::string gguf_pre_name(const std::vector<NormalizerStep>& normalizers, const std::vector<PreTokenizerStep>& steps,
                          bool ignore_merges);

}  // namespace tril
