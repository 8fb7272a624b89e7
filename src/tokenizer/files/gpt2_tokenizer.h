// Byte-level byte-pair encoding [Sennrich et al. 2016; Radford et al. 2019] as Hugging Face kept it before tokenizer.json:
// vocab.json and merges.txt. Text is cut into words (word_patterns.h); a word's bytes are tokens, and the pair of neighbours that stands first in
// merges.txt becomes one token, again and again, until no pair is left that is listed. Every text comes back byte by
// byte: spaces, their runs and newlines are tokens like any other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/models/piece_table.h"

namespace tril {

struct TokenizerDescription;

/// What a new tokenizer is made of.
struct Gpt2Parts {
  PieceTable table;                                         ///< pieces in GPT-2's letters for bytes
  std::vector<std::pair<std::string, std::string>> merges;  ///< the first that applies wins
  std::int32_t model_max_length = 1024;
  std::string end_of_text = "<|endoftext|>";  ///< begins and ends documents, and stands for what has no token
};

std::shared_ptr<const Tokenizer> make_gpt2_tokenizer(Gpt2Parts parts);

/// A vocabulary of the characters that occur in `text`, each one token: single bytes first, then characters of several
/// bytes by merges, then the end of text. What does not occur becomes the end of text.
std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view text, std::int32_t model_max_length);

/// Whether `directory` holds a tokenizer of this form (a merges.txt).
bool is_gpt2_directory(const std::string& directory);

/// Reads vocab.json, merges.txt and what tokenizer_config.h reads; its tokenizer_class says which words there are and what
/// stands around a text: GPT-2's, RoBERTa's (BART's) or Qwen 2's.
TokenizerDescription describe_gpt2_tokenizer(const std::string& directory);

/// Bytes as GPT-2 writes them in vocab.json and merges.txt: printable ones as themselves, the others as letters from
/// U+0100 on ("\u0120" is a space, "\u010a" a newline).
std::string gpt2_letters(std::string_view bytes);

}  // namespace tril
