// Alignments: pairs of a source and a target token or word that correspond, "0-0 1-2 2-1", counted from 0, source first
// (the format of the Pharaoh decoder, which aligners and Marian write); and how to derive them from attention weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// The units that the numbers of an alignment count.
enum class AlignmentUnits : std::uint8_t { words, tokens };

struct AlignmentPoint {
  std::int32_t source = 0, target = 0;
  friend auto operator<=>(const AlignmentPoint&, const AlignmentPoint&) = default;
};
/// Sorted by source, then by target.
using Alignment = std::vector<AlignmentPoint>;

/// Parses a line. @throws Error that begins with `where` if it is malformed
Alignment parse_alignment(std::string_view line, const std::string& where);
/// "0-0 1-2"
std::string to_text(const Alignment& alignment);

/// The source token of the highest weight for each target token (the first on ties).
/// @param attention  [targets, source tokens]
Alignment hard_alignment(std::span<const float> attention, std::size_t targets);
/// All pairs with a weight above `threshold`.
Alignment alignment_above(std::span<const float> attention, std::size_t targets, float threshold);
/// Weights in Marian's format: separated by commas over source tokens, by spaces over target tokens.
std::string soft_alignment(std::span<const float> attention, std::size_t targets);

/// The words of a text, as word alignments number them.
std::vector<std::string_view> words_between_spaces(std::string_view text);

/// For each token the number of its word, from 0; -1 for the end of the sentence. Words are separated by
/// spaces: a piece that begins with "\u2581" begins a word, and a language tag is a word.
std::vector<std::int32_t> words_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side);

/// The words that words_of() counts in a text, as the tokenizer spells them: they differ from the words between spaces
/// if the tokenizer changes or drops characters.
std::vector<std::string> words_as_counted(std::string_view text, const Tokenizer& tokenizer, Side side);

/// @throws Error(usage) for a vocabulary whose pieces do not mark the beginning of words, such as one of bytes
void check_marks_words(const Tokenizer& tokenizer);

/// A word alignment as token pairs: every token of a source word with every token of its target word.
/// @param first_word  the index in `source` of the alignment's source word 0: 1 after a tag that the aligned text did not have
/// @throws Error that begins with `where` for a word that the texts do not have
Alignment tokens_of_words(const Alignment& words, std::span<const std::int32_t> source_words,
                          std::span<const std::int32_t> target_words, std::int32_t first_word,
                          const std::string& where);

/// The text of `ids`, with each unknown token replaced by the source word with its highest attention weight; neighbours
/// with the same source word become one.
/// @param source  the ids of the source text; `attention` has a weight for each
std::string decode_replacing_unknowns(std::span<const std::int32_t> ids, std::span<const float> attention,
                                      std::string_view source_text, std::span<const std::int32_t> source,
                                      const Tokenizer& tokenizer);

}  // namespace tril
