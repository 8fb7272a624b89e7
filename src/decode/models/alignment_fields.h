// Fields for the alignment of translations with their sources, and its forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "corpus/alignment.h"
#include "model/spec/model.h"
#include "search/plan.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

struct AlignmentOptions {
  std::string alignment, layer;  ///< "": no alignment; "": the model's default layer
};

/// alignment, alignment-layer.
void add_alignment_fields(Fields& f, AlignmentOptions& o);

/// @throws Error(usage) if they do not fit the model. @param wanted  whether attention is also needed otherwise
/// @return  nothing if attention is not needed
std::optional<nn::AttentionHeads> attention_heads(const AlignmentOptions& o, const model::Model& m, bool wanted);

/// The pairs of `alignment`, if it is "hard" or a number.
Alignment alignment_points(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens);

/// The alignment as text: "0-0 1-1", or weights.
std::string alignment_text(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens);
/// Likewise as JSON: [[0, 0], [1, 1]], or rows of weights.
std::string alignment_json(const AlignmentOptions& o, std::span<const float> attention, std::size_t tokens);
/// ["\u2581a", "</s>"]
std::vector<std::string> pieces_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, Side side);

}  // namespace tril
