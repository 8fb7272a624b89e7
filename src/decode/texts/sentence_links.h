// Which words of a sentence and its translation correspond, by cross-attention.
#pragma once

#include <string_view>
#include <vector>

#include "decode/texts/translation_text.h"
#include "document/segments/links.h"

namespace tril::search {

/// The links of each token of a translation with the source tokens that it attends to most.
/// @param source  the text that was translated, without a language tag
/// @return  nothing if the translation has no attention weights (SearchPlan::attention)
std::vector<document::Link> sentence_links(const Translation& translation, std::string_view source,
                                           const Tokenizer& tokenizer);

/// The bytes of a text that each of its tokens stands for; empty for special tokens, and for those whose text differs because the
/// tokenizer normalises it.
std::vector<document::Range> token_ranges(std::string_view text, std::span<const std::int32_t> ids,
                                          const Tokenizer& tokenizer, Side side);

}  // namespace tril::search
