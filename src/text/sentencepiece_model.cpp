// A SentencePiece model by itself: its normal form of a text, and its pieces, id by id those of the library. Unigram
// [Kudo 2018] in the library's mixture of single and double precision; byte pairs [Sennrich et al. 2016] by score: of all
// neighbours whose text together is a piece, those of the highest score merge first, of equals the leftmost.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "text/character_map.h"
#include "text/characters.h"
#include "text/merge_seams.h"
#include "text/merge_word.h"
#include "text/piece_decoder.h"
#include "text/prefix_tree.h"
#include "text/subword_model.h"
#include "text/utf8.h"

namespace tril {
namespace {

constexpr std::int32_t none = -1;
constexpr std::string_view space_mark = "\u2581";

// Pieces that text is cut into; the others (control, unknown, bytes) never come of text.
bool is_of_text(PieceType type) {
  return type == PieceType::normal || type == PieceType::user_defined || type == PieceType::unused;
}

// The model's normal form.
class SentencePieceNormalizer {
 public:
  SentencePieceNormalizer(const SentencePieceFile& file, const PrefixTree& frozen, const std::string& where)
      : map_(file.character_map, where),
        frozen_(frozen),
        space_(file.escape_whitespaces ? space_mark : " "),
        dummy_(file.add_dummy_prefix),
        behind_(file.whitespace_as_suffix),
        one_space_(file.remove_extra_whitespaces) {
    for (std::size_t c = 0; c < 128; ++c) {
      const char byte = static_cast<char>(c);
      plain_[c] = byte != ' ' && map_.find({&byte, 1}, CharacterMap::Want::longest).bytes == 0 &&
                  !frozen.may_begin(static_cast<std::uint8_t>(c));
    }
  }

  void apply(std::string_view text, std::string& out) const {
    out.clear();
    Next next;
    while (one_space_ && !text.empty() && (next = take(text), next.text == " ")) text.remove_prefix(next.bytes);
    if (text.empty()) return;
    if (dummy_ && !behind_) out += space_;
    bool after_space = one_space_;
    while (!text.empty()) {
      if (const std::size_t run = plain_run(text)) {
        out += text.substr(0, run);
        text.remove_prefix(run);
        after_space = false;
        continue;
      }
      next = take(text);
      while (after_space && next.text.starts_with(' ')) next.text.remove_prefix(1);
      for (char byte : next.text)
        if (byte == ' ')
          out += space_;
        else
          out += byte;
      if (!next.text.empty()) after_space = one_space_ && next.text.ends_with(' ');
      text.remove_prefix(next.bytes);
    }
    while (one_space_ && out.ends_with(space_)) out.resize(out.size() - space_.size());
    if (dummy_ && behind_) out += space_;
  }

 private:
  struct Next {
    std::string_view text;  // in its normal form
    std::size_t bytes = 0;  // of the text as it was
  };

  // Characters of ASCII that stay, and that nothing longer begins with.
  std::size_t plain_run(std::string_view text) const {
    std::size_t n = 0;
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    while (n < text.size() && byte(n) < 0x80 && plain_[byte(n)] && (n + 1 == text.size() || byte(n + 1) < 0x80)) ++n;
    return n;
  }

  Next take(std::string_view text) const {
    if (const auto match = frozen_.longest_prefix(text); match.bytes > 0)
      return {text.substr(0, match.bytes), match.bytes};
    if (const auto match = map_.find(text, CharacterMap::Want::longest); match.bytes > 0)
      return {match.replacement, match.bytes};
    const Character c = character_at(text, 0);
    if (c.code == Character::not_utf8) return {"\ufffd", 1};
    return {text.substr(0, c.length), c.length};
  }

  CharacterMap map_;
  const PrefixTree& frozen_;
  std::string space_;
  bool dummy_, behind_, one_space_;
  std::array<bool, 128> plain_{};
};

// What both algorithms share: pieces by text, user-defined pieces, and how ids leave.
class SentencePieceModel : public SubwordModel {
 public:
  SentencePieceModel(const SentencePieceParts& parts, const std::string& where)
      : frozen_(tree_of(parts.file, [](PieceType t) { return t == PieceType::user_defined; })),
        normalizer_(parts.file, frozen_, where) {
    const auto& pieces = parts.file.pieces;
    if (!parts.id_of.empty() && parts.id_of.size() != pieces.size())
      fail(where, fmt::format("it numbers {} of {} pieces", parts.id_of.size(), pieces.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::int32_t id = parts.id_of.empty() ? static_cast<std::int32_t>(i) : parts.id_of[i];
      id_of_.push_back(id);
      if (pieces[i].type == PieceType::unknown) unk_ = static_cast<std::int32_t>(i);
      if (const int byte = byte_of_piece(pieces[i].text); byte >= 0 && pieces[i].type == PieceType::byte)
        byte_ids_[static_cast<std::size_t>(byte)] = id;
      if (!std::isfinite(pieces[i].score)) fail(where, fmt::format("the score of piece {} is no number", i));
      if (!is_utf8(pieces[i].text)) fail(where, fmt::format("its piece {} is not UTF-8", i));
    }
    if (unk_ == none) fail(where, "it has no piece of type unknown");
    if (parts.file.byte_fallback && std::find(byte_ids_.begin(), byte_ids_.end(), none) != byte_ids_.end())
      fail(where, "it falls back to bytes and lacks pieces for some of them");
    byte_fallback_ = parts.file.byte_fallback;
    for (const auto& [text, id] : parts.beyond_model) {
      beyond_.emplace(text, id);
      longest_beyond_ = std::max(longest_beyond_, text.size());
    }
  }

  void encode(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    normalizer_.apply(text, scratch.text);
    if (!scratch.text.empty()) cut(scratch.text, scratch, ids);
  }

 protected:
  template <class Wants>
  static PrefixTree tree_of(const SentencePieceFile& file, const Wants& wants) {
    std::vector<std::pair<std::string_view, std::int32_t>> strings;
    for (std::size_t i = 0; i < file.pieces.size(); ++i)
      if (wants(file.pieces[i].type)) strings.emplace_back(file.pieces[i].text, static_cast<std::int32_t>(i));
    return PrefixTree(std::move(strings));
  }

  virtual void cut(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const = 0;

  // An unknown stretch of text. Stretches in a row are one, which grows in `run`.
  void append_unknown(std::string_view text, std::string& run, std::vector<std::int32_t>& ids,
                      bool& after_unknown) const {
    if (byte_fallback_)
      for (char byte : text) ids.push_back(byte_ids_[static_cast<std::uint8_t>(byte)]);
    else if (!after_unknown)
      ids.push_back(id_of_[static_cast<std::size_t>(unk_)]);
    if (!byte_fallback_ && !beyond_.empty()) {
      if (!after_unknown) run.clear();
      run += text;
      const auto known = run.size() <= longest_beyond_ ? beyond_.find(run) : beyond_.end();
      ids.back() = known != beyond_.end() ? known->second : id_of_[static_cast<std::size_t>(unk_)];
    }
    after_unknown = true;
  }

  PrefixTree frozen_;
  SentencePieceNormalizer normalizer_;
  std::vector<std::int32_t> id_of_;  // by the model's own
  std::int32_t unk_ = none;
  std::array<std::int32_t, 256> byte_ids_ = [] {
    std::array<std::int32_t, 256> ids{};
    ids.fill(none);
    return ids;
  }();
  bool byte_fallback_ = false;
  std::unordered_map<std::string, std::int32_t> beyond_;  // SentencePieceParts::beyond_model
  std::size_t longest_beyond_ = 0;
};

class SentencePieceUnigram : public SentencePieceModel {
 public:
  SentencePieceUnigram(const SentencePieceParts& parts, const std::string& where)
      : SentencePieceModel(parts, where),
        pieces_(tree_of(parts.file, [](PieceType t) { return is_of_text(t) && t != PieceType::unused; })) {
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
    std::vector<EncodeScratch::Node>& best = scratch.nodes;  // best[j]: the way to byte j
    best.assign(text.size() + 1, {0, none, none});
    const auto offer = [&](std::size_t begin, std::size_t end, double score, std::int32_t id) {
      EncodeScratch::Node& node = best[end];
      if (node.begin != none && !(score > node.score)) return;
      node = {static_cast<double>(static_cast<float>(score)), static_cast<std::int32_t>(begin), id};
    };
    for (std::size_t at = 0; at < text.size();) {
      const double here = best[at].score;
      const std::size_t length = character_at(text, at).length;
      bool known = false;
      pieces_.for_each_prefix(text.substr(at), [&](std::size_t bytes, std::int32_t id) {
        offer(at, at + bytes, scores_[static_cast<std::size_t>(id)] + here, id);
        known = known || bytes == length;
      });
      if (!known) offer(at, at + length, static_cast<double>(unknown_score_ + static_cast<float>(here)), unk_);
      at += length;
    }
    append_path(text, scratch, ids);
  }

  // Follows the best way back from the end.
  void append_path(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const {
    const std::vector<EncodeScratch::Node>& best = scratch.nodes;
    std::vector<std::int32_t>& ends = scratch.ids;
    ends.clear();
    for (auto end = static_cast<std::int32_t>(text.size()); end > 0; end = best[static_cast<std::size_t>(end)].begin)
      ends.push_back(end);
    bool after_unknown = false;
    for (std::size_t i = ends.size(); i-- > 0;) {
      const EncodeScratch::Node& node = best[static_cast<std::size_t>(ends[i])];
      const auto begin = static_cast<std::size_t>(node.begin), end = static_cast<std::size_t>(ends[i]);
      if (node.id == unk_) {
        append_unknown(text.substr(begin, end - begin), scratch.unknown, ids, after_unknown);
      } else {
        ids.push_back(id_of_[static_cast<std::size_t>(node.id)]);
        after_unknown = false;
      }
    }
  }

  PrefixTree pieces_;
  std::vector<double> scores_;
  float unknown_score_;
};

// Symbols are numbered: the pieces by the model's own ids, then characters that occur in pieces and are none, then each
// user-defined piece once more, as it stands in a text: there it merges with nothing.
class SentencePieceMerges : public SentencePieceModel {
 public:
  SentencePieceMerges(const SentencePieceParts& parts, const std::string& where)
      : SentencePieceModel(parts, where), pieces_(parts.file.pieces.size()), table_(2 * parts.file.pieces.size()) {
    const auto& pieces = parts.file.pieces;
    for (const SentencePieceEntry& p : pieces)
      if (p.type == PieceType::unused)
        fail(where, fmt::format("its piece \"{}\" is out of use (unused)", printable(p.text)),
             "only vocabularies that were not restricted are supported");
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
    for (const auto& [text, symbol] : symbols)
      if (character_at(text, 0).length == text.size()) characters_[character_at(text, 0).code] = symbol;
    if (pieces.size() > 0) add_merges(parts.file, symbols);
  }

 private:
  void add_merges(const SentencePieceFile& file, const std::unordered_map<std::string_view, std::int32_t>& symbols) {
    std::vector<float> scores;
    for (const SentencePieceEntry& p : file.pieces) scores.push_back(p.score);
    std::sort(scores.begin(), scores.end(), std::greater<>());
    scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
    for (const auto& [text, symbol] : symbols) {
      if (static_cast<std::size_t>(symbol) >= file.pieces.size()) continue;
      const float score = file.pieces[static_cast<std::size_t>(symbol)].score;
      const auto rank = static_cast<std::int32_t>(
          std::lower_bound(scores.begin(), scores.end(), score, std::greater<>()) - scores.begin());
      for (std::size_t at = character_at(text, 0).length; at < text.size(); at += character_at(text, at).length) {
        const auto left = symbols.find(text.substr(0, at)), right = symbols.find(text.substr(at));
        if (left != symbols.end() && right != symbols.end()) table_.set(left->second, right->second, {rank, symbol});
      }
    }
  }

  void cut(std::string_view text, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    bool after_unknown = false;
    std::size_t begin = 0;
    Character last{Character::not_utf8, 0};
    for (std::size_t at = 0; at < text.size();) {
      if (const auto match = frozen_.longest_prefix(text.substr(at)); match.bytes > 0) {
        encode_stretch(text.substr(begin, at - begin), scratch, ids, after_unknown);
        ids.push_back(id_of_[static_cast<std::size_t>(match.number)]);
        after_unknown = false;
        begin = at += match.bytes;
        last = {Character::not_utf8, 0};
        continue;
      }
      const Character c = character_at(text, at);
      if (at > begin && !seams_.may_merge(last.code, c.code, text, at)) {
        encode_stretch(text.substr(begin, at - begin), scratch, ids, after_unknown);
        begin = at;
      }
      last = c;
      at += c.length;
    }
    encode_stretch(text.substr(begin), scratch, ids, after_unknown);
  }

  // What lies between two seams. What the cache holds begins behind something known.
  void encode_stretch(std::string_view part, EncodeScratch& scratch, std::vector<std::int32_t>& ids,
                      bool& after_unknown) const {
    if (part.empty()) return;
    const bool cached = !after_unknown && part.size() <= WordCache::longest_word;
    const std::uint64_t hash = cached ? WordCache::hash(part) : 0;
    if (cached && scratch.cache.find(part, WordCache::whole, hash, ids)) return;
    const std::size_t before = ids.size();
    const bool all_known = merge(part, scratch, ids, after_unknown);
    if (cached && all_known) scratch.cache.keep(part, WordCache::whole, hash, std::span(ids).subspan(before));
  }

  bool merge(std::string_view part, EncodeScratch& scratch, std::vector<std::int32_t>& ids, bool& after_unknown) const {
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
      if (static_cast<std::size_t>(symbol) < pieces_) {
        ids.push_back(id_of_[static_cast<std::size_t>(symbol)]);
        after_unknown = false;
        continue;
      }
      all_known = false;
      append_unknown(text_of(symbol), scratch.unknown, ids, after_unknown);
    }
    return all_known;
  }

  // Of a character that is no piece.
  std::string text_of(std::int32_t symbol) const {
    std::string text;
    if (symbol >= first_frozen_) {
      append_utf8(text, static_cast<char32_t>(symbol - first_frozen_));
    } else {
      for (const auto& [character, number] : characters_)
        if (number == symbol) append_utf8(text, character);
    }
    return text;
  }

  std::size_t pieces_;
  MergeTable table_;
  MergeSeams seams_;
  std::int32_t first_frozen_ = 0;  // symbols from here on are characters that no piece has
  std::unordered_map<char32_t, std::int32_t> characters_;
};

}  // namespace

std::unique_ptr<const SubwordModel> make_sentencepiece_model(const SentencePieceParts& parts,
                                                             const std::string& where) {
  switch (parts.file.algorithm) {
    case SubwordAlgorithm::unigram:
      return std::make_unique<SentencePieceUnigram>(parts, where);
    case SubwordAlgorithm::bpe:
      return std::make_unique<SentencePieceMerges>(parts, where);
    default:
      fail(where, "it cuts text into words or characters, which is not supported", "unigram and bpe are");
  }
}

}  // namespace tril
