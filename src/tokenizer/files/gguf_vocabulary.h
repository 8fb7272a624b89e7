// Converts the vocabulary of a GGUF file (tokenizer.ggml.*) to a tokenizer's description, and back. tokenizer.ggml.model is
//   llama   SentencePiece BPE by score, unknown characters as bytes
//   gpt2    BPE by a list of merges, words split as in tokenizer.ggml.pre (gguf_pre.h): byte-level, or as gemma4
//   gemma4  BPE of characters by a list of merges, lines with spaces as U+2581
//   t5      SentencePiece unigram, with its character map
//   bert    WordPiece
// Text is tokenized as in llama.cpp with special tokens parsed. Key names and defaults follow the GGUF specification and
// llama_vocab::impl::load of llama.cpp.
#pragma once

#include "format/gguf.h"
#include "format/gguf_write.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// The name of a metadata key of the vocabulary: tokenizer.ggml.NAME.
inline std::string gguf_vocabulary_key(std::string_view name) {
  return "tokenizer.ggml." + std::string(name);
}

/// Whether the file has a vocabulary of any kind.
bool has_gguf_vocabulary(const GgufFile& file);

/// @throws Error for an unsupported kind of vocabulary, or inconsistent parts
TokenizerDescription read_gguf_vocabulary(const GgufFile& file);
/// The tokenizer of that description.
std::shared_ptr<const Tokenizer> load_gguf_tokenizer(const GgufFile& file);

struct GgufVocabulary {
  GgufMetadata metadata;              ///< tokenizer.*
  std::vector<std::string> warnings;  ///< where llama.cpp may behave differently
};

/// The metadata from which llama.cpp reads the same tokenizer.
/// @param size  rows of the model's embedding table: ids without a token become unused tokens
/// @param ends  ids that end a text besides the tokenizer's own (those of generation_config.json)
/// @throws Error(usage) for a kind of tokenizer that llama.cpp does not have
GgufVocabulary gguf_vocabulary(const TokenizerDescription& tokenizer, std::int32_t size,
                               const std::vector<std::int32_t>& ends = {});

}  // namespace tril
