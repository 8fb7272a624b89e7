// Byte-pair encoding of one word [Sennrich et al. 2016]: of all pairs of neighbours that merge, the one of the lowest
// rank, of equals the leftmost, becomes one piece; again and again.
#pragma once

#include "tokenizer/models/merge_table.h"
#include "tokenizer/models/subword_model.h"

namespace tril {

/// Merges scratch.ids, the word's first pieces, and appends what is left to `ids`. A negative id merges with nothing and
/// is left out.
void merge_word(const MergeTable& table, EncodeScratch& scratch, std::vector<std::int32_t>& ids);

}  // namespace tril
