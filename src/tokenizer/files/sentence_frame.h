// The tokens around a sentence of an encoder-decoder model: Marian's "X </s>", BART's "<s> X </s>", M2M100's "__en__ X
// </s>", the first mBART's "X </s> en_XX".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/files/tokenizer.h"

namespace tril {

/// Tokenizer::frame(), always with an end of sentence. The token that the first mBART puts after that end is the
/// decoder's first token on the target side, not part of the sentence.
/// @throws Error(usage) for a language that the tokenizer does not have
TextFrame sentence_frame(const Tokenizer& tokenizer, Side side, std::string_view language = {});

/// Puts the frame around a text's ids. If the total exceeds `most` (0: no limit), the end of the text is cut off.
/// @return true if the end was cut off
bool put_into_frame(std::vector<std::int32_t>& ids, const TextFrame& frame, std::size_t most = 0);

/// A text's ids with its frame.
std::vector<std::int32_t> sentence_ids(const Tokenizer& tokenizer, std::string_view text, Side side,
                                       std::string_view language = {});

}  // namespace tril
