// Unigram language model [Kudo 2018] as in Hugging Face's Unigram model: the segmentation of a word into pieces with
// the highest sum of log probabilities (best_path.h), in double precision. A character that is not a piece costs the
// lowest score less 10; a run of such characters is one unknown piece.
#include <algorithm>
#include <array>
#include <limits>

#include "base/element.h"
#include "base/error.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/models/best_path.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "unicode/characters.h"

namespace tril {
namespace {

class Unigram : public SubwordModel {
 public:
  Unigram(const UnigramParts& parts, const std::string& where) : where_(where), byte_fallback_(parts.byte_fallback) {
    const auto size = static_cast<std::int32_t>(parts.vocab.size());
    unk_ = parts.unk_id.value_or(none);
    if (parts.unk_id && (unk_ < 0 || unk_ >= size))
      fail(where, fmt::format("its unknown token has id {}, but there are {} pieces", unk_, size));
    std::vector<std::pair<std::string_view, std::int32_t>> strings;
    for (std::int32_t id = 0; id < size; ++id) {
      const auto& [piece, score] = element(parts.vocab, id);
      if (!(std::abs(score) < std::numeric_limits<double>::max()))
        fail(where, fmt::format("the score of piece {} is not a number", id));
      strings.emplace_back(piece, id);
      scores_.push_back(score);
      unknown_score_ = std::min(unknown_score_, score);
    }
    unknown_score_ -= unknown_penalty;
    pieces_ = PrefixTree(std::move(strings));
    for (std::size_t b = 0; b < 256; ++b) fallback_ids_[b] = pieces_.find(fmt::format("<0x{:02X}>", b)).value_or(none);
  }

  void encode(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    if (word.size() > WordCache::longest_word) return cut(word, scratch, ids);
    const std::uint64_t hash = WordCache::hash(word);
    if (scratch.cache.find(word, WordCache::whole, hash, ids)) return;
    const std::size_t before = ids.size();
    cut(word, scratch, ids);
    scratch.cache.keep(word, WordCache::whole, hash, std::span(ids).subspan(before));
  }

 private:
  static constexpr std::int32_t none = -1;

  void cut(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const {
    if (!find_best_path<double>(word, {pieces_, scores_, unk_, unknown_score_}, scratch.nodes))
      fail(where_, "the text has a character that is not a piece, and the model has no unknown token");
    append_path(word, scratch.nodes, ids);
  }

  // Follows the best path back from the end; a run of unknown characters becomes one.
  void append_path(std::string_view word, const std::vector<EncodeScratch::Node>& best,
                   std::vector<std::int32_t>& ids) const {
    const std::size_t before = ids.size();
    for (std::size_t end = word.size(); end > 0;) {
      auto begin = static_cast<std::size_t>(best[end].begin);
      const std::int32_t id = best[end].id;
      if (id == unk_) {
        while (begin > 0 && best[begin].id == unk_) begin = static_cast<std::size_t>(best[begin].begin);
        append_unknown(word.substr(begin, end - begin), ids);
      } else {
        ids.push_back(id);
      }
      end = begin;
    }
    std::reverse(ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end());
  }

  // Appends in reverse order, like append_path().
  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (const auto piece = pieces_.find(text)) return ids.push_back(*piece);
    const auto id = [&](char byte) { return fallback_ids_[static_cast<std::uint8_t>(byte)]; };
    if (byte_fallback_ && std::none_of(text.begin(), text.end(), [&](char b) { return id(b) == none; }))
      for (std::size_t i = text.size(); i-- > 0;) ids.push_back(id(text[i]));
    else
      ids.push_back(unk_);
  }

  std::string where_;
  bool byte_fallback_;
  std::int32_t unk_ = none;
  double unknown_score_ = std::numeric_limits<double>::infinity();
  std::vector<double> scores_;
  std::array<std::int32_t, 256> fallback_ids_{};
  PrefixTree pieces_;
};

}  // namespace

std::unique_ptr<const SubwordModel> make_unigram(const UnigramParts& parts, const std::string& where) {
  return std::make_unique<Unigram>(parts, where);
}

}  // namespace tril
