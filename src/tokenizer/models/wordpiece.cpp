// WordPiece [Schuster & Nakajima 2012] as in BERT: the longest piece at the start of the word, then the longest
// continuation piece ("##ing") at the start of the rest, and so on. A word that cannot be split so, or has too many
// characters, is one unknown token. Also WordLevel: a whole word is a piece or unknown.
#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "unicode/characters.h"

namespace tril {
namespace {

PrefixTree tree_of(const Pieces& vocab, std::string_view prefix) {
  std::vector<std::pair<std::string_view, std::int32_t>> strings;
  for (const auto& [piece, id] : vocab)
    if (piece.starts_with(prefix)) strings.emplace_back(std::string_view(piece).substr(prefix.size()), id);
  return PrefixTree(std::move(strings));
}

class WordPiece : public SubwordModel {
 public:
  WordPiece(const WordPieceParts& parts, const std::string& where)
      : begins_(tree_of(parts.vocab, "")),
        continues_(tree_of(parts.vocab, parts.continuing_subword_prefix)),
        most_characters_(parts.max_input_chars_per_word) {
    const auto unk = begins_.find(parts.unk_token);
    if (!unk) fail(where, fmt::format("its unknown token \"{}\" is not in the vocabulary", printable(parts.unk_token)));
    unk_ = *unk;
  }

  void encode(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    if (word.size() > WordCache::longest_word) return cut(word, ids);
    const std::uint64_t hash = WordCache::hash(word);
    if (scratch.cache.find(word, WordCache::whole, hash, ids)) return;
    const std::size_t before = ids.size();
    cut(word, ids);
    scratch.cache.keep(word, WordCache::whole, hash, std::span(ids).subspan(before));
  }

 private:
  void cut(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t before = ids.size();
    bool known = characters(word) <= most_characters_;
    for (std::size_t at = 0; known && at < word.size();) {
      const PrefixTree::Match match = (at == 0 ? begins_ : continues_).longest_prefix(word.substr(at));
      known = match.bytes > 0;
      at += match.bytes;
      if (known) ids.push_back(match.number);
    }
    if (known) return;
    ids.resize(before);
    ids.push_back(unk_);
  }

  static std::size_t characters(std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < word.size(); at += character_at(word, at).length) ++count;
    return count;
  }

  PrefixTree begins_, continues_;
  std::size_t most_characters_;
  std::int32_t unk_ = -1;
};

class WordLevel : public SubwordModel {
 public:
  WordLevel(const WordLevelParts& parts, const std::string& where) : where_(where), words_(tree_of(parts.vocab, "")) {
    unk_ = words_.find(parts.unk_token).value_or(-1);
  }

  void encode(std::string_view word, EncodeScratch&, std::vector<std::int32_t>& ids) const override {
    const std::int32_t id = words_.find(word).value_or(unk_);
    if (id < 0)
      fail(where_, fmt::format("\"{}\" is not in the vocabulary, which has no unknown token", printable(word)));
    ids.push_back(id);
  }

 private:
  std::string where_;
  PrefixTree words_;
  std::int32_t unk_ = -1;
};

}  // namespace

std::unique_ptr<const SubwordModel> make_wordpiece(const WordPieceParts& parts, const std::string& where) {
  return std::make_unique<WordPiece>(parts, where);
}

std::unique_ptr<const SubwordModel> make_wordlevel(const WordLevelParts& parts, const std::string& where) {
  return std::make_unique<WordLevel>(parts, where);
}

}  // namespace tril
