// A step: the new tokens of all rows go in, and what may follow them comes out. It is a model with a memory of earlier tokens, or a
// table in a test. Everything that a step gives is in its result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace tril::nn {
struct AttentionTap;
}

namespace tril::search {

/// What a step must answer.
enum class Wanted {
  logits,      ///< the logits of all tokens
  candidates,  ///< what the best candidates can be found from: logits, or hidden states and a quantised projection
  hidden,      ///< hidden states and their projection
  nothing,     ///< nothing: beginnings of prompts are read
};

/// The rows of one step, a sentence's rows beside each other.
struct StepInput {
  std::span<const std::int32_t> ids;     ///< the tokens that are new, row after row
  std::span<const std::int32_t> counts;  ///< [rows] how many of them: one, and all that is given for one that begins
  /// [rows] which row of the step before this one goes on from; -1: a sentence that begins. Those come last.
  std::span<const std::int32_t> parents;
  std::span<const std::int32_t> sentences;  ///< [rows] whose row it is: the number that it joined by
  /// [rows] how many of the last tokens that its parent read a row has not taken; empty: it has taken all.
  std::span<const std::int32_t> cuts = {};
  /// [rows] how many of a row's last new tokens are to be answered; empty: the last one of each alone.
  std::span<const std::int32_t> answers = {};
  /// [rows] tokens of each row's prompt; empty: as many as it has with these.
  std::span<const std::int32_t> prompt_lengths = {};
  Wanted wanted = Wanted::logits;
  bool attention = false;           ///< whether StepOutput::attention is wanted too
  nn::AttentionTap* tap = nullptr;  ///< what the model is to fill on its way (attention_tap_step.h)
};

/// How many rows go on from the step before. They come first.
inline std::int64_t rows_that_go_on(const StepInput& input) {
  return std::find(input.parents.begin(), input.parents.end(), -1) - input.parents.begin();
}

/// What the rows' last tokens looked at: a weight for each token of the source of a row's sentence, row after row.
struct StepAttention {
  std::vector<float> weights;
  std::vector<std::int32_t> lengths;  ///< [rows] tokens of the source; empty: not asked for, or not known
};

/// What follows each row, or each token that is to be answered. The caller may overwrite it.
struct StepOutput {
  Tensor logits = {};  ///< [answers, V]; none: what would make them is here
  Tensor hidden = {};  ///< [answers, D]
  ops::Weight weight = {};
  Tensor bias = {};
  float softcap = 0;  ///< of the logits; 0: none
  std::span<const std::int32_t> columns =
      {};  ///< the ids of the logits' columns, ascending, until the next step; none: all
  StepAttention attention = {};
};

/// A model with what it remembers of the rows of the steps before, or a table in a test.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::int64_t vocab_size() const = 0;
  virtual StepOutput step(Context& c, const StepInput& input) = 0;

  /// Called before the step in which a sentence begins. The result says how many tokens of its prompt were read for other sentences
  /// and need not be read again: the row is given the tokens after them. The last token is never among them.
  virtual std::int32_t reuse_prefix(std::int32_t /*sentence*/, std::span<const std::int32_t> /*prompt*/) { return 0; }
  /// Called between two steps. A row of the last one has read this text from its first token, and other rows may begin with it.
  virtual void keep_prefix(std::int32_t /*row*/, std::span<const std::int32_t> /*text*/) {}
};

}  // namespace tril::search
