// The models of tokenizer_parts.h: each splits a word into pieces and gives their ids.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/models/word_cache.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// Buffers of a thread that encodes.
struct EncodeScratch {
  struct Symbol {
    std::int32_t id;
    std::int32_t before, after;  // neighbours; -1: none
  };
  struct Merge {
    std::int32_t rank, left, id;
    std::int32_t left_id, right_id;
  };
  struct Node {  // of the best path to a place in the text
    double score;
    std::int32_t begin, id;
  };

  WordCache cache;
  std::vector<Symbol> symbols;
  std::vector<Merge> merges;
  std::vector<Node> nodes;
  std::vector<std::int32_t> ids, merged;
  std::string text;
};

class SubwordModel {
 public:
  virtual ~SubwordModel() = default;

  /// Appends the ids of `word`, which must not be empty.
  virtual void encode(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const = 0;
};

/// The form in which a model takes words.
enum class WordForm : std::uint8_t {
  text,   ///< UTF-8
  bytes,  ///< any bytes, for a vocabulary in GPT-2's letters: replaces the ByteLevel step
};

/// @throws Error naming `where` for inconsistent parts: a merge of unknown pieces, or an unk_token that is not a piece
std::unique_ptr<const SubwordModel> make_byte_pairs(const BpeParts& parts, WordForm form, const std::string& where);
std::unique_ptr<const SubwordModel> make_unigram(const UnigramParts& parts, const std::string& where);
std::unique_ptr<const SubwordModel> make_wordpiece(const WordPieceParts& parts, const std::string& where);
std::unique_ptr<const SubwordModel> make_wordlevel(const WordLevelParts& parts, const std::string& where);
/// The id of a run of characters that are in no piece, by their text in the model's normal form.
using UnknownIds = std::function<std::int32_t(std::string_view text)>;
/// @param unknown_ids  unset: the id of the model's unknown piece for every text
std::unique_ptr<const SubwordModel> make_sentencepiece_model(const SentencePieceParts& parts, const std::string& where,
                                                             UnknownIds unknown_ids = {});

}  // namespace tril
