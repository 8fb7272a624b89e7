// The model and the added tokens of a tokenizer.json: pieces, merges, scores, and tokens that are never split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "tokenizer/files/json_node.h"
#include "tokenizer/pipeline/tokenizer_parts.h"

namespace tril {

/// @throws Error naming the part, for a type or value that is not supported
ModelParts read_model(const JsonNode& node);
/// A token in the model's vocabulary has the model's id; the others are numbered after the vocabulary, in order. The
/// library also ignores the ids in the file.
std::vector<AddedToken> read_added(const JsonNode& node, const ModelParts& model);

/// Calls use(piece, id) for each piece of the model; a SentencePiece model's are not listed.
template <class Use>
void for_each_piece(const ModelParts& model, const Use& use) {
  std::visit(
      [&](const auto& parts) {
        using Parts = std::decay_t<decltype(parts)>;
        if constexpr (std::is_same_v<Parts, UnigramParts>) {
          for (std::size_t i = 0; i < parts.vocab.size(); ++i) use(parts.vocab[i].first, static_cast<std::int32_t>(i));
        } else if constexpr (!std::is_same_v<Parts, SentencePieceParts>) {
          for (const auto& [piece, id] : parts.vocab) use(piece, id);
        }
      },
      model);
}

}  // namespace tril
