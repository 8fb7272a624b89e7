// Analyses of a pass: what a model would say after each layer, and what each head and each feed-forward adds to a logit.
#pragma once

#include <string>
#include <vector>

#include "trace/tail.h"

namespace tril::trace {

/// Logit lens: the logits that the end of the model gives for the stream after each layer [nostalgebraist 2020]. A model with a last
/// norm applies it first; a post-norm model reads the stream directly. The last row is the model's own logits.
struct LensRow {
  std::string point;          ///< "decoder.stream", "decoder.0.output", …
  std::vector<float> logits;  ///< [tokens, vocab]
};
std::vector<LensRow> logit_lens(const model::Model& m, const Input& input);

/// Attention rollout: how much of each token's stream comes from each token, over all layers, if a head passes its values on and the
/// residual counts as much as attention: the product of (mean over heads of P + I) / 2 [Abnar & Zuidema 2020]. side: "encoder" or
/// "decoder". @return [tokens, tokens]
/// @throws Error(usage) for a layer without attention weights
std::vector<float> rollout(const model::Model& m, const Input& input, const std::string& side);

/// Direct logit attribution: what each part of the stream adds to one logit, with the last norm's divisor held as it is.
struct Attribution {
  struct Part {
    std::string point;       ///< "decoder.stream", "decoder.0.self.heads", "decoder.0.feed_forward.out"
    std::int64_t head = -1;  ///< -1: not of a head
    double logit = 0;
  };
  std::vector<Part> parts;
  double bias = 0;   ///< what the end adds by itself: biases of the last norm and the output
  double logit = 0;  ///< the model's logit, before a soft cap
  double rest = 0;   ///< logit - bias - the parts: rounding, and biases of attention
};
/// @param token  of the decoder; @param id  whose logit
/// @throws Error(usage) if the stream is not the sum of its parts: post-norm layers normalise it
Attribution attribute(const model::Model& m, const Input& input, std::int64_t token, std::int32_t id);

}  // namespace tril::trace
