// A SentencePiece model of byte pairs as a list of merges: for every piece and every way to cut it into two others one,
// those of higher scores first. So does Hugging Face's converter, and so such a model becomes a tokenizer.json. Where two
// pieces have the same score the list says which comes first, which SentencePiece leaves to their places in the text.
#pragma once

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// The same parts with BpeParts in place of SentencePieceParts, and the steps around them that do what the model's own
/// normal form does.
/// @throws Error(usage) for a unigram model, and for one that changes more of a text than its spaces
TokenizerParts with_merges(const TokenizerParts& parts);

/// Whether the model's own normal form does no more than to make spaces U+2581 and to put one in front.
bool only_marks_spaces(const SentencePieceFile& model);

}  // namespace tril
