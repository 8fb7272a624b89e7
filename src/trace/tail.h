// The end of a decoder: from a residual stream to logits, through the last norm, scales and the output matrix. It is the model's own
// code, with every layer left out.
#pragma once

#include <span>
#include <vector>

#include "model/spec/model.h"
#include "trace/pass.h"

namespace tril::trace {

class Tail {
 public:
  /// The model and the input must outlive it.
  Tail(const model::Model& model, const Input& input) : model_(&model), input_(&input) {}

  /// Logits [rows, vocab] of rows [rows, width] of a residual stream.
  std::vector<float> logits(std::span<const float> stream, std::int64_t width,
                            model::Capped capped = model::Capped::yes) const;

 private:
  std::vector<float> logits_of_few(std::span<const float> stream, std::int64_t width, model::Capped capped) const;

  const model::Model* model_;
  const Input* input_;
};

}  // namespace tril::trace
