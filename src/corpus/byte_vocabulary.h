// Byte-level vocabularies learned from text (tokenizer/models/bpe_trainer.h), as tokenizers that are written as tokenizer.json.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "corpus/vocabulary.h"

namespace tril {

struct ByteVocabularyOptions {
  std::int64_t size = 8000;          ///< pieces: the end of text, symbols, 256 bytes, and one for each merge
  std::int64_t min_frequency = 2;    ///< a pair of pieces that occurs more rarely is not merged
  std::vector<std::string> symbols;  ///< texts that are pieces of their own and never split
  bool split_digits = false;         ///< every digit is a piece of its own
  bool skip_invalid = false;         ///< skip lines that are not UTF-8
  std::int32_t model_max_length = 1 << 30;
};

/// Learns from every line of all files, each with its line end, as `tokenizers` does from files. Words are split by GPT-2's
/// pattern. "<|endoftext|>" has id 0, begins and ends documents; symbols follow.
/// @throws Error for a missing file, a line that is not UTF-8, and a size below the pieces that every vocabulary has
std::shared_ptr<const Tokenizer> train_byte_tokenizer(const std::vector<TextSource>& files,
                                                      const ByteVocabularyOptions& options);

}  // namespace tril
