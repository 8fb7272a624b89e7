#include "tokenizer/files/sentencepiece.h"

#include <exception>

#include "base/error.h"
#include "unicode/character_map.h"
#include "unicode/trim.h"

namespace tril {

std::shared_ptr<const SentencePiece> parse_sentencepiece(std::string_view bytes, const std::string& where) {
  const char* hint = "train one with `tril vocab`, or download it again";
  auto model = std::make_shared<SentencePiece>();
  if (bytes.empty()) fail(where, "is empty, expected a SentencePiece model", hint);
  std::string refusal = character_map_fault(bytes);
  if (!refusal.empty()) fail(where, "is not a SentencePiece model: " + refusal, hint);
  try {
    const auto status = model->LoadFromSerializedProto(bytes);
    if (!status.ok()) refusal = status.ToString();
  } catch (const std::exception& error) {  // its trie throws if a piece is empty or repeated
    refusal = error.what();
  }
  if (!refusal.empty()) fail(where, "is not a SentencePiece model: " + refusal, hint);
  if (model->GetPieceSize() == 0) fail(where, "is a SentencePiece model without pieces", hint);
  for (int id = 0; id < model->GetPieceSize(); ++id)
    if (!is_utf8(model->IdToPiece(id))) fail(where, fmt::format("its piece {} is not UTF-8", id), hint);
  return model;
}

bool is_special_piece(const SentencePiece& model, int id) {
  return model.IsUnknown(id) || model.IsControl(id);
}

}  // namespace tril
