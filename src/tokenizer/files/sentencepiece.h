// What tokenizers need of the SentencePiece library: models from bytes, with our errors.
#pragma once

#include <sentencepiece_processor.h>

#include <memory>
#include <string>
#include <string_view>

namespace tril {

using SentencePiece = sentencepiece::SentencePieceProcessor;

/// The model in `bytes`, checked; `where` names it in errors.
std::shared_ptr<const SentencePiece> parse_sentencepiece(std::string_view bytes, const std::string& where);

/// Whether a piece stands for no text of its own: unknown, begin, end, padding and other control symbols.
bool is_special_piece(const SentencePiece& model, int id);

}  // namespace tril
