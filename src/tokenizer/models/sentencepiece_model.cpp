// SentencePiece models: the normal form of a text, and its pieces, with the same ids as the library. Unigram [Kudo
// 2018] in the library's mixture of single and double precision; BPE [Sennrich et al. 2016] by score: of all neighbours
// whose text together is a piece, those of the highest score merge first, the leftmost on ties; characters; words. Time
// is linear in the text (n log n for long words of BPE), even if all of it is unknown.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>

#include "base/element.h"
#include "base/error.h"
#include "base/printable.h"
#include "format/sentencepiece_file.h"
#include "tokenizer/models/best_path.h"
#include "tokenizer/models/merge_seams.h"
#include "tokenizer/models/merge_word.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/piece_decoder.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "tokenizer/pipeline/sentencepiece_normalizer.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

namespace tril {
namespace {

constexpr std::int32_t no_piece = -1;

// Pieces that text is split into; the others (control, unknown, bytes) never result from splitting.
bool is_of_text(PieceType type) {
  return type == PieceType::normal || type == PieceType::user_defined || type == PieceType::unused;
}

// Shared by all algorithms: the normal form, and the output of ids.
class SentencePieceModel : public SubwordModel {
 public:
  SentencePieceModel(const SentencePieceParts& parts, UnknownIds unknown_ids, const std::string& where)
      : normalizer_(parts.file, where), unknown_ids_(std::move(unknown_ids)) {
    const auto& pieces = parts.file.pieces;
    if (!parts.id_of.empty() && parts.id_of.size() != pieces.size())
      fail(where, fmt::format("it has ids for {} of {} pieces", parts.id_of.size(), pieces.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::int32_t id = parts.id_of.empty() ? static_cast<std::int32_t>(i) : parts.id_of[i];
      id_of_.push_back(id);
      if (pieces[i].type == PieceType::unknown) unk_ = static_cast<std::int32_t>(i);
      if (const int byte = byte_of_piece(pieces[i].text); byte >= 0 && pieces[i].type == PieceType::byte)
        element(byte_ids_, byte) = id;
      if (!std::isfinite(pieces[i].score)) fail(where, fmt::format("the score of piece {} is not a number", i));
      if (!is_utf8(pieces[i].text)) fail(where, fmt::format("its piece {} is not UTF-8", i));
    }
    if (unk_ == no_piece) fail(where, "it has no piece of type unknown");
    if (parts.file.byte_fallback && std::find(byte_ids_.begin(), byte_ids_.end(), no_piece) != byte_ids_.end())
      fail(where, "it uses byte fallback but lacks pieces for some bytes");
    byte_fallback_ = parts.file.byte_fallback;
  }

  void encode(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    normalizer_.apply(text, scratch.text);
    if (!scratch.text.empty()) cut(scratch.text, scratch, ids);
  }

 protected:
  virtual void cut(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const = 0;

  // A run of unknown stretches of text is one token, whose id may depend on the whole run.
  struct Unknowns {
    bool open = false;   // the last appended token is unknown
    std::size_t at = 0;  // its index in the ids
    std::string text;
  };

  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids, Unknowns& run) const {
    if (byte_fallback_) {
      for (char byte : text) ids.push_back(byte_ids_[static_cast<std::uint8_t>(byte)]);
    } else if (!run.open) {
      run.at = ids.size();
      ids.push_back(element(id_of_, unk_));
    }
    if (unknown_ids_ && !byte_fallback_) run.text += text;
    run.open = true;
  }
  // Must be called before a known token is appended, and at the end.
  void end_unknown(std::vector<std::int32_t>& ids, Unknowns& run) const {
    if (run.open && unknown_ids_ && !byte_fallback_) ids[run.at] = unknown_ids_(run.text);
    run.open = false;
    run.text.clear();
  }
  // Appends a stretch that is one piece, or unknown.
  void append_piece(std::optional<std::int32_t> piece, std::string_view text, std::vector<std::int32_t>& ids,
                    Unknowns& run) const {
    if (!piece || *piece == unk_) return append_unknown(text, ids, run);
    end_unknown(ids, run);
    ids.push_back(element(id_of_, *piece));
  }

  SentencePieceNormalizer normalizer_;
  UnknownIds unknown_ids_;
  std::vector<std::int32_t> id_of_;  // by the model's id
  std::int32_t unk_ = no_piece;
  std::array<std::int32_t, 256> byte_ids_ = [] {
    std::array<std::int32_t, 256> ids{};
    ids.fill(no_piece);
    return ids;
  }();
  bool byte_fallback_ = false;
};

class SentencePieceUnigram : public SentencePieceModel {
 public:
  SentencePieceUnigram(const SentencePieceParts& parts, UnknownIds unknown_ids, const std::string& where)
      : SentencePieceModel(parts, std::move(unknown_ids), where),
        pieces_(tree_of_pieces(parts.file, [](PieceType t) { return is_of_text(t) && t != PieceType::unused; })) {
    float lowest = std::numeric_limits<float>::max(), highest = std::numeric_limits<float>::min();
    for (const SentencePieceEntry& p : parts.file.pieces)
      if (p.type == PieceType::normal) lowest = std::min(lowest, p.score), highest = std::max(highest, p.score);
    unknown_score_ = lowest - 10.0f;
    for (const SentencePieceEntry& p : parts.file.pieces)
      scores_.push_back(p.type == PieceType::user_defined
                            ? static_cast<float>(p.text.size()) * highest - 0.1  // always chosen
                            : p.score);
  }

 private:
  void cut(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    find_best_path<float>(text, {pieces_, scores_, unk_, unknown_score_}, scratch.nodes);
    append_path(text, scratch.nodes, scratch.ids, ids);
  }

  // Follows the best path back from the end.
  void append_path(std::string_view text, const std::vector<EncodeScratch::Node>& best, std::vector<std::int32_t>& ends,
                   std::vector<std::int32_t>& ids) const {
    ends.clear();
    for (auto end = static_cast<std::int32_t>(text.size()); end > 0; end = element(best, end).begin)
      ends.push_back(end);
    Unknowns run;
    for (std::size_t i = ends.size(); i-- > 0;) {
      const EncodeScratch::Node& node = element(best, ends[i]);
      const auto begin = static_cast<std::size_t>(node.begin), end = static_cast<std::size_t>(ends[i]);
      append_piece(node.id, text.substr(begin, end - begin), ids, run);
    }
    end_unknown(ids, run);
  }

  PrefixTree pieces_;
  std::vector<double> scores_;
  float unknown_score_;
};

// Symbols are numbered: pieces by the model's ids, then characters that occur in pieces but are not pieces, then each
// user-defined piece once more, as it occurs in a text, where it never merges.
class SentencePieceMerges : public SentencePieceModel {
 public:
  SentencePieceMerges(const SentencePieceParts& parts, UnknownIds unknown_ids, const std::string& where)
      : SentencePieceModel(parts, std::move(unknown_ids), where),
        pieces_(std::ssize(parts.file.pieces)),
        table_(2 * parts.file.pieces.size()) {
    const auto& pieces = parts.file.pieces;
    for (const SentencePieceEntry& p : pieces)
      if (p.type == PieceType::unused)
        fail(where, fmt::format("its piece \"{}\" is marked as unused", printable(p.text)),
             "restricted vocabularies are not supported");
    std::unordered_map<std::string_view, std::int32_t> symbols;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (is_of_text(pieces[i].type)) symbols.emplace(pieces[i].text, static_cast<std::int32_t>(i));
    auto next = static_cast<std::int32_t>(pieces.size());
    for (const SentencePieceEntry& p : pieces) {
      if (!is_of_text(p.type)) continue;
      seams_.add(p.text);
      for (std::size_t at = 0; at < p.text.size(); at += character_at(p.text, at).length) {
        const std::string_view character = std::string_view(p.text).substr(at, character_at(p.text, at).length);
        if (symbols.emplace(character, next).second) ++next;
      }
    }
    first_frozen_ = next;
    parts_of_pieces_.resize(static_cast<std::size_t>(next - pieces_));
    for (const auto& [text, symbol] : symbols) {
      const Character c = character_at(text, 0);
      if (c.length != text.size()) continue;
      characters_[c.code] = symbol;
      if (symbol >= pieces_) element(parts_of_pieces_, symbol - pieces_) = c.code;
    }
    if (pieces.size() > 0) add_merges(parts.file, symbols);
  }

 private:
  void add_merges(const SentencePieceFile& file, const std::unordered_map<std::string_view, std::int32_t>& symbols) {
    std::vector<float> scores;
    for (const SentencePieceEntry& p : file.pieces) scores.push_back(p.score);
    std::sort(scores.begin(), scores.end(), std::greater<>());
    scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
    for (const auto& [text, symbol] : symbols) {
      if (symbol >= std::ssize(file.pieces)) continue;
      const float score = element(file.pieces, symbol).score;
      const auto rank = static_cast<std::int32_t>(
          std::lower_bound(scores.begin(), scores.end(), score, std::greater<>()) - scores.begin());
      for (std::size_t at = character_at(text, 0).length; at < text.size(); at += character_at(text, at).length) {
        const auto left = symbols.find(text.substr(0, at)), right = symbols.find(text.substr(at));
        if (left != symbols.end() && right != symbols.end()) table_.set(left->second, right->second, {rank, symbol});
      }
    }
  }

  void cut(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    Unknowns run;
    std::size_t begin = 0;
    Character last{Character::not_utf8, 0};
    for (std::size_t at = 0; at < text.size();) {
      if (const auto match = normalizer_.frozen().longest_prefix(text.substr(at)); match.bytes > 0) {
        encode_stretch(text.substr(begin, at - begin), scratch, ids, run);
        append_piece(match.number, text.substr(at, match.bytes), ids, run);
        begin = at += match.bytes;
        last = {Character::not_utf8, 0};
        continue;
      }
      const Character c = character_at(text, at);
      if (at > begin && !seams_.may_merge(last.code, c.code, text, at)) {
        encode_stretch(text.substr(begin, at - begin), scratch, ids, run);
        begin = at;
      }
      last = c;
      at += c.length;
    }
    encode_stretch(text.substr(begin), scratch, ids, run);
    end_unknown(ids, run);
  }

  // A part between two seams. The cache holds only parts that follow something known.
  void encode_stretch(std::string_view part, EncodeScratch& scratch, std::vector<std::int32_t>& ids,
                      Unknowns& run) const {
    if (part.empty()) return;
    const bool cached = !run.open && part.size() <= WordCache::longest_word;
    const std::uint64_t hash = cached ? WordCache::hash(part) : 0;
    if (cached && scratch.cache.find(part, WordCache::whole, hash, ids)) return;
    const std::size_t before = ids.size();
    const bool all_known = merge(part, scratch, ids, run);
    if (cached && all_known) scratch.cache.keep(part, WordCache::whole, hash, std::span(ids).subspan(before));
  }

  bool merge(std::string_view part, EncodeScratch& scratch, std::vector<std::int32_t>& ids, Unknowns& run) const {
    scratch.ids.clear();
    for (std::size_t at = 0; at < part.size();) {
      const Character c = character_at(part, at);
      const auto found = characters_.find(c.code);
      scratch.ids.push_back(found != characters_.end() ? found->second
                                                       : first_frozen_ + static_cast<std::int32_t>(c.code));
      at += c.length;
    }
    std::vector<std::int32_t>& symbols = scratch.merged;
    symbols.clear();
    merge_word(table_, scratch, symbols);
    bool all_known = true;
    for (std::int32_t symbol : symbols) {
      if (symbol < pieces_) {
        append_piece(symbol, {}, ids, run);
        continue;
      }
      all_known = false;
      std::string text;
      append_utf8(text, character_of(symbol));
      append_unknown(text, ids, run);
    }
    return all_known;
  }

  // The character of a symbol that is not a piece.
  char32_t character_of(std::int32_t symbol) const {
    if (symbol >= first_frozen_) return static_cast<char32_t>(symbol - first_frozen_);
    return element(parts_of_pieces_, symbol - pieces_);
  }

  std::int64_t pieces_;
  MergeTable table_;
  MergeSeams seams_;
  std::int32_t first_frozen_ = 0;  // from here on: characters that occur in no piece
  std::unordered_map<char32_t, std::int32_t> characters_;
  std::vector<char32_t> parts_of_pieces_;  // by symbol - pieces_: characters that occur in pieces but are not pieces
};

// A character or user-defined piece is a piece or unknown; in a model of words, so is the text between spaces.
class SentencePieceWhole : public SentencePieceModel {
 public:
  SentencePieceWhole(const SentencePieceParts& parts, UnknownIds unknown_ids, const std::string& where)
      : SentencePieceModel(parts, std::move(unknown_ids), where),
        pieces_(tree_of_pieces(parts.file, [](PieceType) { return true; })),
        words_(parts.file.algorithm == SubwordAlgorithm::word) {}

 private:
  void cut(std::string_view text, EncodeScratch&, std::vector<std::int32_t>& ids) const override {
    Unknowns run;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t bytes = words_ ? text.find(space_mark, at + 1) : 0;
      if (words_) {
        bytes = std::min(bytes, text.size()) - at;
      } else {
        bytes = normalizer_.frozen().longest_prefix(text.substr(at)).bytes;
        if (bytes == 0) bytes = character_at(text, at).length;
      }
      const std::string_view one = text.substr(at, bytes);
      append_piece(pieces_.find(one), one, ids, run);
      at += bytes;
    }
    end_unknown(ids, run);
  }

  PrefixTree pieces_;
  bool words_;
};

}  // namespace

std::unique_ptr<const SubwordModel> make_sentencepiece_model(const SentencePieceParts& parts, const std::string& where,
                                                             UnknownIds unknown_ids) {
  switch (parts.file.algorithm) {
    case SubwordAlgorithm::unigram:
      return std::make_unique<SentencePieceUnigram>(parts, std::move(unknown_ids), where);
    case SubwordAlgorithm::bpe:
      return std::make_unique<SentencePieceMerges>(parts, std::move(unknown_ids), where);
    default:
      return std::make_unique<SentencePieceWhole>(parts, std::move(unknown_ids), where);
  }
}

}  // namespace tril
