// Converts a SentencePiece BPE model to a list of merges: one for every split of every piece into two others, highest
// scores first, as Hugging Face's converter does for tokenizer.json. Pieces of equal score get a fixed order in the
// list, while SentencePiece decides by their positions in the text.
#pragma once

#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// The same parts with BpeParts in place of SentencePieceParts, and steps that are equivalent to the model's own normal form.
/// @throws Error(usage) for a unigram model, and for a model whose normal form changes more than spaces
TokenizerParts with_merges(const TokenizerParts& parts);

/// Whether the model's own normal form only replaces spaces by U+2581 and puts one in front.
bool only_marks_spaces(const SentencePieceFile& model);

}  // namespace tril
