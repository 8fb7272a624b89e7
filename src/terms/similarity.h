// How similar two texts are, as translation memories count it.
#pragma once

#include <cstdint>
#include <span>

namespace tril::terms {

/// The edit distance of two sequences [Levenshtein 1966]: the least number of insertions, deletions and substitutions.
/// @return most + 1 if it is above `most`; the time is proportional to `most` times the length
std::int32_t edit_distance(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::int32_t most);

/// 100 * (1 - distance / longest), rounded down: the similarity of texts of which the longer one has `longest` > 0 words.
constexpr std::int32_t percent_similar(std::int32_t distance, std::int32_t longest) {
  return 100 * (longest - distance) / longest;
}

}  // namespace tril::terms
