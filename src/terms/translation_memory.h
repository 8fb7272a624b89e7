// Translation memories: sentences with the translations that people gave them, found again exactly or by similarity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "terms/glossary.h"

namespace tril::terms {

/// What a translation memory is used for.
enum class MemoryUse : std::uint8_t {
  exact,  ///< exact hits are the translation; similar sentences are only reported
  tell    ///< all hits are only reported
};
const std::vector<std::pair<std::string, MemoryUse>>& memory_use_names();

/// A sentence of a memory that resembles a text.
struct MemoryHit {
  std::string source, target;
  std::int32_t score = 0;  ///< in percent; 100: exact
};

/// An index of sentence pairs. It is filled once, then only read: thread-safe.
///
/// A hit is exact if the texts are equal after Unicode normalisation (NFC) with each run of white space as one space
/// and none at the ends; upper and lower case and punctuation count. The similarity of other texts is that of CAT
/// tools: with words and punctuation marks as units, 100 * (1 - edit distance / units of the longer text), at most 99.
/// In scripts without spaces, each character is a unit.
///
/// Candidates are found by a prefix filter [Chaudhuri et al. 2006, "A primitive operator for similarity joins in data cleaning"]:
/// texts that are at least 75% similar share one of their rarest units, so each text is listed only under those.
class TranslationMemory {
 public:
  static constexpr std::int32_t threshold = 75;  ///< hits below this score are not found
  static constexpr std::size_t most_hits = 3;

  TranslationMemory();

  /// Adds a pair, before finish(). Of equal sources the last pair is found; pairs without text are left out.
  /// @throws Error(usage) if the memory would hold more than most_pairs or most_bytes
  void add(std::string_view source, std::string_view target);
  /// Builds the index. Call it once.
  void finish();

  /// The translation of exactly this text.
  std::optional<std::string> exact(std::string_view text) const;
  /// The best hits, first the exact one, then by their scores.
  std::vector<MemoryHit> find(std::string_view text) const;

  std::size_t size() const { return pairs_.size(); }
  /// Pairs whose source occurred again later with another translation.
  std::size_t replaced() const { return replaced_; }
  /// Memory of texts and index in bytes.
  std::size_t bytes() const;

  static constexpr std::size_t most_pairs = 20'000'000;
  static constexpr std::size_t most_bytes = std::size_t{3} << 30;  ///< of texts

 private:
  struct Pair {
    std::uint64_t text = 0;                // where its source begins in texts_; its target follows
    std::uint32_t source = 0, target = 0;  // bytes
    std::uint32_t units = 0, count = 0;    // where its units begin in units_
  };

  std::string_view source_of(const Pair& pair) const { return {texts_.data() + pair.text, pair.source}; }
  std::string_view target_of(const Pair& pair) const { return {texts_.data() + pair.text + pair.source, pair.target}; }
  std::vector<std::int32_t> known_units(std::string_view text) const;
  void rank(std::vector<std::int32_t>& units) const;
  std::optional<std::size_t> exact_pair(std::string_view text) const;

  std::string texts_;
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> units_;  // of all sources, one after the other
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> numbers_;  // of units
  std::vector<std::int32_t> frequencies_;                                             // by unit
  std::unordered_map<std::uint64_t, std::uint32_t> by_text_;  // the hash of an exact text -> its last pair
  std::vector<std::uint64_t> lists_;                          // by unit: where its list begins in listed_
  std::vector<std::uint32_t> listed_;                         // pairs, in each list by their number of units
  std::size_t replaced_ = 0;
};

/// Reads a memory for a language pair.
///   .tmx               TMX 1.4 (document/xml/tmx.h): each unit with both languages, without inline codes
///   .tsv, .tab, .txt   source, tab, target; other columns are not read; no comments, no quoting
/// @param notes  receives what was left out
/// @throws Error naming the file and the line; Error(usage) if a TMX file has no pairs in these languages
TranslationMemory read_memory(const std::string& path, const LanguagePair& pair, std::vector<std::string>& notes);

/// Maximum size of a memory file in bytes.
inline constexpr std::uint64_t most_memory_bytes = std::uint64_t{4} << 30;

}  // namespace tril::terms
