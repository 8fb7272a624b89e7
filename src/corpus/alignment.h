// Which source token, or word, a target one belongs to: pairs "0-0 1-2 2-1", counted from 0, source first (the form of the
// Pharaoh decoder, which aligners and Marian write); and how to come by them from weights of attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// What the numbers of an alignment count.
enum class AlignmentUnits : std::uint8_t { words, tokens };

struct AlignmentPoint {
  std::int32_t source = 0, target = 0;
  friend auto operator<=>(const AlignmentPoint&, const AlignmentPoint&) = default;
};
/// In the order of sources, then of targets.
using Alignment = std::vector<AlignmentPoint>;

/// Reads a line. @throws Error that begins with `where` for what is not of this form
Alignment parse_alignment(std::string_view line, const std::string& where);
/// "0-0 1-2"
std::string to_text(const Alignment& alignment);

/// The source token of the highest weight for each target token (of equals the first).
/// @param attention  [targets, source tokens]
Alignment hard_alignment(std::span<const float> attention, std::size_t targets);
/// All pairs whose weight is above `threshold`.
Alignment alignment_above(std::span<const float> attention, std::size_t targets, float threshold);
/// Weights of a source token separated by commas, of target tokens by spaces, as Marian writes them.
std::string soft_alignment(std::span<const float> attention, std::size_t targets);

/// What the numbers of words count.
std::vector<std::string_view> words_between_spaces(std::string_view text);

/// The number of the word that each token belongs to, from 0; -1 for the end of the sentence. Words are what stands
/// between spaces: a piece that begins with "\u2581" begins one, and a language tag is one.
std::vector<std::int32_t> words_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side);

/// The words that words_of() counts in a text, as the tokenizer writes them: what it makes one character, or leaves out, is
/// no longer what stands between spaces.
std::vector<std::string> words_as_counted(std::string_view text, const Tokenizer& tokenizer, Side side);

/// @throws Error(usage) for a vocabulary whose pieces do not say where a word begins, as those of bytes do not
void check_marks_words(const Tokenizer& tokenizer);

/// The pairs of tokens that pairs of words stand for: every token of the one with every token of the other.
/// @param first_word  the word of `source` that the alignment's source word 0 is: 1 behind a tag that the text had not
/// @throws Error that begins with `where` for a word that the texts have not
Alignment tokens_of_words(const Alignment& words, std::span<const std::int32_t> source_words,
                          std::span<const std::int32_t> target_words, std::int32_t first_word,
                          const std::string& where);

/// The text of `ids` with each unknown token replaced by the source word that it looks at most; neighbours that look at
/// one word become one.
/// @param source  the ids of the source text, `attention` has a weight for each of them
std::string decode_replacing_unknowns(std::span<const std::int32_t> ids, std::span<const float> attention,
                                      std::string_view source_text, std::span<const std::int32_t> source,
                                      const Tokenizer& tokenizer);

}  // namespace tril
