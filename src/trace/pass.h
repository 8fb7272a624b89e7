// One pass of a model over a text, with a recorder watching: encoder, decoder, logits, and on request the gradients of the
// loss. It is the same computation as everywhere else; without edits its logits are bit-identical.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/spec/model.h"
#include "trace/recorder.h"

namespace tril::trace {

/// The ids of a pass.
struct Input {
  std::vector<std::int32_t> source;  ///< what the encoder reads; empty for a decoder-only model
  std::vector<std::int32_t> tokens;  ///< what the decoder reads; in an encoder-decoder it begins with the start token
  /// By token of the decoder: the token that should follow, or -1 where none is known or it does not count in the loss.
  std::vector<std::int32_t> labels;
  std::int64_t prompt = 0;    ///< tokens of the decoder that are given, and not what follows; for what shows them
  std::int32_t adapter = -1;  ///< its number, of a model with several (nn/adapters.h); -1: the standard one
  std::function<void()> checkpoint = nullptr;  ///< is called before each pass; it throws to end what needs many
};

/// The token with the largest logit in each row of [rows, vocab].
std::vector<std::int32_t> best_ids(std::span<const float> logits, std::int64_t vocab);

struct Outcome {
  std::int64_t vocab = 0;
  std::vector<float> logits;            ///< [tokens, vocab]
  std::vector<double> label_log_probs;  ///< by token; 0 where there is no label
  std::int64_t labelled = 0;            ///< tokens with a label
  /// Mean of -log p(label); 0 without labels.
  double loss() const;
  /// The most probable next token of each token.
  std::vector<std::int32_t> best() const { return best_ids(logits, vocab); }
};

/// @param recorder  null: a plain pass
/// @param gradients  of the loss, for a recorder that wants them; the model must hold its weights in float32
/// @throws Error(usage) for ids outside the vocabulary, more tokens than positions, or no tokens
Outcome run_pass(const model::Model& m, const Input& input, Recorder* recorder = nullptr, bool gradients = false);

/// The values of a pass with these edits that the patterns name; a pattern may name no point.
Trace values_of(const model::Model& m, const Input& input, std::vector<std::string> only,
                std::span<const Edit> edits = {});

/// The greedy continuation: up to `most` tokens, ending after `eos`, each by a pass over the whole text with these edits.
std::vector<std::int32_t> greedy(const model::Model& m, const Input& input, std::int64_t most,
                                 std::span<const std::int32_t> eos, const Recorder::Options& options);

}  // namespace tril::trace
