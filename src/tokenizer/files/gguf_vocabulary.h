// The vocabulary of a GGUF file (tokenizer.ggml.*) as the description of a tokenizer, and back. tokenizer.ggml.model is
//   llama   SentencePiece's byte pairs by score, unknown characters as bytes
//   gpt2    byte pairs by a list of merges, words cut as tokenizer.ggml.pre says (gguf_pre.h): byte-level, or as gemma4
//   gemma4  byte pairs of characters by a list of merges, lines with spaces as U+2581
//   t5      SentencePiece's unigrams, with its map of characters
//   bert    WordPiece
// A text is cut as llama.cpp cuts it where special tokens are parsed. Names and what is meant where a file does not say:
// the GGUF description and llama_vocab::impl::load of llama.cpp.
#pragma once

#include "format/gguf.h"
#include "tokenizer/files/pipeline_tokenizer.h"

namespace tril {

/// The name of a metadata key of the vocabulary: tokenizer.ggml.NAME.
inline std::string gguf_vocabulary_key(std::string_view name) {
  return "tokenizer.ggml." + std::string(name);
}

/// Whether the file has a vocabulary of any kind.
bool has_gguf_vocabulary(const GgufFile& file);

/// @throws Error for a kind of vocabulary that is not supported, or one whose parts do not fit together
TokenizerDescription read_gguf_vocabulary(const GgufFile& file);
/// The tokenizer that it describes.
std::shared_ptr<const Tokenizer> load_gguf_tokenizer(const GgufFile& file);

struct GgufVocabulary {
  GgufMetadata metadata;              ///< tokenizer.*
  std::vector<std::string> warnings;  ///< what llama.cpp may do otherwise
};

/// What llama.cpp reads the same tokenizer from.
/// @param size  rows of the model's table of tokens: ids without a token become unused ones
/// @param ends  ids that end a text besides the tokenizer's own end (those of generation_config.json)
/// @throws Error(usage) for a tokenizer of a kind that llama.cpp does not have
GgufVocabulary gguf_vocabulary(const TokenizerDescription& tokenizer, std::int32_t size,
                               const std::vector<std::int32_t>& ends = {});

}  // namespace tril
