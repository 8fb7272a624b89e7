// The models of tokenizer_parts.h: each cuts a word into pieces and gives their ids.
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

/// What a thread that encodes needs for itself.
struct EncodeScratch {
  struct Symbol {
    std::int32_t id;
    std::int32_t before, after;  // neighbours; -1: none
  };
  struct Merge {
    std::int32_t rank, left, id;
    std::int32_t left_id, right_id;
  };
  struct Node {  // of the best way to a place in the text
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

  /// Appends the ids of `word`, which is not empty.
  virtual void encode(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const = 0;
};

/// How a model takes its words.
enum class WordForm : std::uint8_t {
  text,   ///< UTF-8
  bytes,  ///< any bytes, for a vocabulary in GPT-2's letters: the ByteLevel step, without its detour over letters
};

/// @throws Error naming `where` for parts that do not fit together: a merge of what is no piece, an unknown token that
/// is none
std::unique_ptr<const SubwordModel> make_byte_pairs(const BpeParts& parts, WordForm form, const std::string& where);
std::unique_ptr<const SubwordModel> make_unigram(const UnigramParts& parts, const std::string& where);
std::unique_ptr<const SubwordModel> make_wordpiece(const WordPieceParts& parts, const std::string& where);
std::unique_ptr<const SubwordModel> make_wordlevel(const WordLevelParts& parts, const std::string& where);
/// What is the id of characters in a row that no piece has, by their text in the model's normal form.
using UnknownIds = std::function<std::int32_t(std::string_view text)>;
/// @param unknown_ids  unset: that of the model's unknown piece, whatever the text
std::unique_ptr<const SubwordModel> make_sentencepiece_model(const SentencePieceParts& parts, const std::string& where,
                                                             UnknownIds unknown_ids = {});

}  // namespace tril
