// Loads models of the SentencePiece library from bytes, with tril's errors.
#pragma once

#include <sentencepiece_processor.h>

#include <memory>
#include <string>
#include <string_view>

namespace tril {

using SentencePiece = sentencepiece::SentencePieceProcessor;

/// Parses and checks the model in `bytes`; `where` names it in errors.
std::shared_ptr<const SentencePiece> parse_sentencepiece(std::string_view bytes, const std::string& where);

/// Whether a piece represents no text: unknown, begin, end, padding and other control symbols.
bool is_special_piece(const SentencePiece& model, int id);

}  // namespace tril
