// Byte-pair encoding as in Hugging Face's BPE model: a word starts as the pieces of its characters (or bytes), which
// are then merged (merge_word.h).
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/models/merge_seams.h"
#include "tokenizer/models/merge_word.h"
#include "tokenizer/models/subword_model.h"
#include "tokenizer/pipeline/prefix_tree.h"
#include "unicode/characters.h"

namespace tril {
namespace {

constexpr std::int32_t none = -1;

using IdOf = std::unordered_map<std::string_view, std::int32_t>;

// The bytes of a piece in GPT-2's letters; nothing if a character is not such a letter.
std::optional<std::string> bytes_of_letters(std::string_view piece) {
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    const Character c = character_at(piece, at);
    const int byte = byte_of_letter(c.code);
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    at += c.length;
  }
  return bytes;
}

class BytePairs : public SubwordModel {
 public:
  BytePairs(const BpeParts& parts, WordForm form, const std::string& where)
      : form_(form),
        prefix_(parts.continuing_subword_prefix),
        suffix_(parts.end_of_word_suffix),
        fuse_unk_(parts.fuse_unk),
        byte_fallback_(parts.byte_fallback),
        unk_per_character_(parts.unk_per_character),
        table_(parts.merges.size()) {
    IdOf ids;
    for (const auto& [piece, id] : parts.vocab) ids.insert_or_assign(piece, id);
    number_characters(ids);
    if (parts.unk_token) {
      const auto found = ids.find(*parts.unk_token);
      if (found == ids.end())
        fail(where, fmt::format("its unknown token \"{}\" is not in the vocabulary", printable(*parts.unk_token)));
      unk_ = found->second;
    }
    take_merges(parts, ids, where);
    if (parts.ignore_merges) keep_whole_words(parts);
  }

  void encode(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const override {
    if (word.size() <= WordCache::longest_word) {
      encode_cached(word, WordCache::whole, scratch, ids, [&] { encode_new(word, scratch, ids); });
    } else {
      encode_new(word, scratch, ids);
    }
  }

 private:
  // Looks a short word up in the cache, or splits and caches it.
  template <class Cut>
  static void encode_cached(std::string_view word, WordCache::Of of, EncodeScratch& scratch,
                            std::vector<std::int32_t>& ids, const Cut& cut) {
    const std::uint64_t hash = WordCache::hash(word);
    if (scratch.cache.find(word, of, hash, ids)) return;
    const std::size_t before = ids.size();
    cut();
    scratch.cache.keep(word, of, hash, std::span(ids).subspan(before));
  }

  void encode_new(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const {
    if (const auto whole = whole_words_.find(word)) {
      ids.push_back(*whole);
      return;
    }
    if (affixed()) return merge(word, scratch, ids);
    std::size_t begin = 0;
    Character last = character_at(word, 0);
    for (std::size_t at = last.length; at < word.size();) {
      const Character c = character_at(word, at);
      if (!seams_.may_merge(last.code, c.code, word, at) && known(word, at - last.length, last) && known(word, at, c)) {
        encode_stretch(word.substr(begin, at - begin), scratch, ids);
        begin = at;
      }
      last = c;
      at += c.length;
    }
    if (begin == 0)
      merge(word, scratch, ids);
    else
      encode_stretch(word.substr(begin), scratch, ids);
  }

  // Whether a character is a token of its own text. Otherwise it becomes tokens whose merges spell other text.
  bool known(std::string_view word, std::size_t at, Character c) const {
    if (form_ == WordForm::text) return character_id(c.code) != none;
    for (std::size_t i = at; i < at + c.length; ++i)
      if (byte_ids_[static_cast<std::uint8_t>(word[i])] == none) return false;
    return true;
  }

  // A part of a word between two seams.
  void encode_stretch(std::string_view part, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const {
    if (part.size() > WordCache::longest_word) return merge(part, scratch, ids);
    encode_cached(part, WordCache::part, scratch, ids, [&] { merge(part, scratch, ids); });
  }

  void merge(std::string_view word, EncodeScratch& scratch, std::vector<std::int32_t>& ids) const {
    scratch.ids.clear();
    if (form_ == WordForm::bytes)
      first_bytes(word, scratch.ids);
    else
      first_characters(word, scratch.ids);
    merge_word(table_, scratch, ids);
  }

  void first_bytes(std::string_view word, std::vector<std::int32_t>& ids) const {
    bool after_unk = false;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t length = unk_per_character_ ? character_at(word, at).length : 1;
      bool known = true;
      for (std::size_t i = at; i < at + length; ++i) known &= byte_ids_[static_cast<std::uint8_t>(word[i])] != none;
      for (std::size_t i = at; known && i < at + length; ++i)
        ids.push_back(byte_ids_[static_cast<std::uint8_t>(word[i])]);
      if (!known && unk_ != none && !(after_unk && fuse_unk_)) ids.push_back(unk_);
      after_unk = !known;
      at += length;
    }
  }

  // As in Hugging Face's: the token of unknown characters without byte pieces is delayed until the next known
  // character, after any bytes in between.
  void first_characters(std::string_view word, std::vector<std::int32_t>& ids) const {
    bool waiting = false;
    const auto release = [&] {
      if (waiting) ids.push_back(unk_);
      waiting = false;
    };
    for (std::size_t at = 0; at < word.size();) {
      const Character c = character_at(word, at);
      const std::size_t end = at + c.length;
      const std::int32_t id = affixed() ? affixed_id(word, at, end) : character_id(c.code);
      if (id != none) {
        release();
        ids.push_back(id);
      } else if (!append_bytes(word, at, end, ids) && unk_ != none) {
        if (!fuse_unk_) release();
        waiting = true;
      }
      at = end;
    }
    release();
  }

  bool affixed() const { return !prefix_.empty() || !suffix_.empty(); }

  std::string with_affixes(std::string_view word, std::size_t begin, std::size_t end) const {
    std::string piece = begin > 0 ? prefix_ : "";
    piece += word.substr(begin, end - begin);
    if (end == word.size()) piece += suffix_;
    return piece;
  }

  std::int32_t affixed_id(std::string_view word, std::size_t begin, std::size_t end) const {
    return affixed_ids_.find(with_affixes(word, begin, end)).value_or(none);
  }

  std::int32_t character_id(char32_t c) const {
    if (c < basic_ids_.size()) return basic_ids_[c];
    const auto found = other_ids_.find(c);
    return found == other_ids_.end() ? none : found->second;
  }

  bool append_bytes(std::string_view word, std::size_t begin, std::size_t end, std::vector<std::int32_t>& ids) const {
    if (!byte_fallback_) return false;
    const std::string piece = with_affixes(word, begin, end);
    const auto id = [&](char byte) { return fallback_ids_[static_cast<std::uint8_t>(byte)]; };
    if (std::any_of(piece.begin(), piece.end(), [&](char b) { return id(b) == none; })) return false;
    for (char byte : piece) ids.push_back(id(byte));
    return true;
  }

  void number_characters(const IdOf& ids) {
    const auto id_of = [&](const std::string& piece) {
      const auto found = ids.find(piece);
      return found == ids.end() ? none : found->second;
    };
    for (std::size_t b = 0; b < 256; ++b) {
      std::string letter;
      append_utf8(letter, byte_letters()[b]);
      byte_ids_[b] = id_of(letter);
      fallback_ids_[b] = id_of(fmt::format("<0x{:02X}>", b));
    }
    std::vector<std::pair<std::string_view, std::int32_t>> affixed_pieces;
    for (const auto& [piece, id] : ids) {
      if (piece.empty()) continue;
      if (affixed()) affixed_pieces.emplace_back(piece, id);
      const Character c = character_at(piece, 0);
      if (c.length != piece.size() || c.code == Character::not_utf8) continue;
      if (c.code < basic_ids_.size())
        basic_ids_[c.code] = id;
      else
        other_ids_[c.code] = id;
    }
    affixed_ids_ = PrefixTree(std::move(affixed_pieces));
  }

  void take_merges(const BpeParts& parts, const IdOf& ids, const std::string& where) {
    std::string product;
    for (std::size_t rank = 0; rank < parts.merges.size(); ++rank) {
      const auto& [left, right] = parts.merges[rank];
      if (!right.starts_with(prefix_))
        fail(where, fmt::format("merge {}, \"{} {}\": the right one does not begin with \"{}\"", rank + 1,
                                printable(left), printable(right), prefix_));
      product = left;
      product += std::string_view(right).substr(prefix_.size());
      const auto a = ids.find(left), b = ids.find(right), both = ids.find(product);
      if (a == ids.end() || b == ids.end() || both == ids.end())
        fail(where, fmt::format("merge {}, \"{} {}\", names a piece that the vocabulary lacks", rank + 1,
                                printable(left), printable(right)));
      table_.set(a->second, b->second, {static_cast<std::int32_t>(rank), both->second});
      if (form_ == WordForm::bytes)
        seams_.add(bytes_of_letters(product).value_or(""));
      else
        seams_.add(product);
    }
  }

  void keep_whole_words(const BpeParts& parts) {
    std::vector<std::string> words;
    std::vector<std::pair<std::string_view, std::int32_t>> strings;
    words.reserve(parts.vocab.size());
    for (const auto& [piece, id] : parts.vocab) {
      const auto bytes = form_ == WordForm::bytes ? bytes_of_letters(piece) : piece;
      if (!bytes) continue;
      words.push_back(*bytes);
      strings.emplace_back(words.back(), id);
    }
    whole_words_ = PrefixTree(std::move(strings));
  }

  WordForm form_;
  std::string prefix_, suffix_;
  bool fuse_unk_, byte_fallback_, unk_per_character_;
  std::int32_t unk_ = none;
  std::array<std::int32_t, 256> byte_ids_{}, fallback_ids_{};
  std::vector<std::int32_t> basic_ids_ = std::vector<std::int32_t>(0x10000, none);  ///< by character
  std::unordered_map<char32_t, std::int32_t> other_ids_;
  PrefixTree affixed_ids_, whole_words_;
  MergeTable table_;
  MergeSeams seams_;
};

}  // namespace

std::unique_ptr<const SubwordModel> make_byte_pairs(const BpeParts& parts, WordForm form, const std::string& where) {
  return std::make_unique<BytePairs>(parts, form, where);
}

}  // namespace tril
