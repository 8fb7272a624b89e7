// The options of a score of texts: how a long text is read, and whether its first token is scored.
#pragma once

#include <cstdint>

#include "base/fields.h"
#include "decode/texts/text_score.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// begin, context, stride.
void add_window_fields(Fields& f, search::WindowOptions& windows, bool& begin);

/// The token that `begin` puts before a text. @throws Error(usage) if the model has none
std::int32_t begin_token(const model::Model& model, const Tokenizer& tokenizer);

}  // namespace tril
