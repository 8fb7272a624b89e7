// Byte-level byte-pair encoding [Sennrich et al. 2016; Radford et al. 2019] in Hugging Face's form before
// tokenizer.json: vocab.json and merges.txt. Text is split into words (word_patterns.h); a word's bytes are tokens, and
// the pair of neighbours that comes first in merges.txt is merged into one token, repeatedly, until no listed pair is
// left. Decoding restores every text byte by byte: spaces, runs of spaces and newlines are tokens like any other.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tokenizer/files/tokenizer.h"
#include "tokenizer/models/piece_table.h"

namespace tril {

struct TokenizerDescription;

/// The parts of a new tokenizer.
struct Gpt2Parts {
  PieceTable table;                                         ///< pieces in GPT-2's byte letters
  std::vector<std::pair<std::string, std::string>> merges;  ///< the first that applies wins
  std::int32_t model_max_length = 1024;
  std::string end_of_text = "<|endoftext|>";  ///< begins and ends documents; also the unknown token
};

std::shared_ptr<const Tokenizer> make_gpt2_tokenizer(Gpt2Parts parts);

/// A vocabulary with one token for each character of `text`: single bytes first, then characters of several bytes by
/// merges, then the end of text, which also represents all other characters.
std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view text, std::int32_t model_max_length);

/// Whether `directory` holds a tokenizer of this form (a merges.txt).
bool is_gpt2_directory(const std::string& directory);

/// Reads vocab.json, merges.txt and what tokenizer_config.h reads; tokenizer_class decides how words are split and what
/// is put around a text: as in GPT-2, RoBERTa (BART) or Qwen 2.
TokenizerDescription describe_gpt2_tokenizer(const std::string& directory);

/// Bytes in the letters of vocab.json and merges.txt: printable bytes as themselves, the others as letters from U+0100
/// on ("\u0120" is a space, "\u010a" a newline).
std::string gpt2_letters(std::string_view bytes);

}  // namespace tril
