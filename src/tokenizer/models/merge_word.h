// Byte-pair encoding of one word [Sennrich et al. 2016]: the neighbouring pair of the lowest rank (the leftmost on
// ties) is merged into one piece, until no pair is left that merges.
#pragma once

#include "tokenizer/models/merge_table.h"
#include "tokenizer/models/subword_model.h"

namespace tril {

/// Merges scratch.ids, the word's initial pieces, and appends the result to `ids`. A negative id never merges and is left out.
void merge_word(const MergeTable& table, EncodeScratch& scratch, std::vector<std::int32_t>& ids);

}  // namespace tril
