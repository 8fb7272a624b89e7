// Byte-level vocabularies that have ranks instead of merges: tiktoken's, and Mistral's. Of all pairs of neighbours whose
// bytes together are a token, the one of the lowest rank is merged, repeatedly; a word that is a token is not split.
// Source: `tiktoken`, src/lib.rs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

struct RankedToken {
  std::string bytes;
  std::int32_t rank = 0;
};

/// The vocabulary as merges: for each token, all ways to make it from two others, in the order of ranks.
/// @param first_id  the id of rank 0
/// @throws Error naming `where` if two tokens or ranks are the same, or a byte has no token
BpeParts parts_of_ranks(const std::vector<RankedToken>& tokens, std::int32_t first_id, const std::string& where);

/// Parses lines of a token in Base64, a space and its rank. Empty lines are skipped.
/// @throws Error naming `where` and the line
std::vector<RankedToken> parse_rank_lines(std::string_view text, const std::string& where);

}  // namespace tril
