// A decode step: takes the new tokens of all rows and returns the logits after them. A step is a model with the keys and values of
// earlier tokens, or a table in a test. Everything that a step produces is in its result.
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

/// What a step must return.
enum class Wanted {
  logits,      ///< logits over the vocabulary
  candidates,  ///< logits, or hidden states and output matrices: enough to find the best candidates
  hidden,      ///< hidden states and the output matrix
  nothing,     ///< nothing: prefill without an answer
};

/// The rows of one step. The rows of a sentence are consecutive.
struct StepInput {
  std::span<const std::int32_t> ids;     ///< the new tokens, row after row
  std::span<const std::int32_t> counts;  ///< [rows] the number of new tokens of each row
  /// [rows] the row of the previous step that a row continues; -1: a new sentence. New sentences come last.
  std::span<const std::int32_t> parents;
  std::span<const std::int32_t> sentences;  ///< [rows] the number of each row's sentence
  /// [rows] the number of tokens at the parent's end that the row does not take over; empty: 0 for all.
  std::span<const std::int32_t> cuts = {};
  /// [rows] the number of tokens at the row's end that need an answer; empty: 1 for all.
  std::span<const std::int32_t> answers = {};
  /// [rows] the length of each row's prompt; empty: the row's length including the new tokens.
  std::span<const std::int32_t> prompt_lengths = {};
  Wanted wanted = Wanted::logits;
  bool attention = false;           ///< true: StepOutput::attention is needed too
  nn::AttentionTap* tap = nullptr;  ///< filled by the model (attention_tap_step.h)
};

/// The number of rows that continue rows of the previous step. They come first.
inline std::int64_t continued_rows(const StepInput& input) {
  return std::find(input.parents.begin(), input.parents.end(), -1) - input.parents.begin();
}

/// The attention weights of each row's last token over its sentence's source, row after row.
struct StepAttention {
  std::vector<float> weights;
  std::vector<std::int32_t> lengths;  ///< [rows] source tokens; empty: not requested, or not available
};

/// The result for each row, or for each token that needs an answer. The caller may overwrite it.
struct StepOutput {
  Tensor logits = {};  ///< [answers, V]; empty: `hidden` and the output matrix, or `parts`, are set instead
  /// [answers, D]: the states that the logits are of; empty beside logits that are not of one model.
  Tensor hidden = {};
  ops::Weight weight = {};
  Tensor bias = {};
  float softcap = 0;  ///< of the logits; 0: none
  /// Output matrices of consecutive answers, where these have vocabularies of their own. Valid until the next step
  std::span<const ops::OutputPart> parts = {};
  std::span<const std::int32_t> columns =
      {};  ///< the ids of the logits' columns, ascending; empty: all ids. Valid until the next step
  StepAttention attention = {};
};

/// See the beginning of the file.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::int64_t vocab_size() const = 0;
  virtual StepOutput step(Context& c, const StepInput& input) = 0;

  /// Called before the first step of a sentence. Returns the number of tokens at the beginning of the prompt that are cached and
  /// need not be read again; never all of them. The step then gets only the tokens after them.
  virtual std::int32_t reuse_prefix(std::int32_t /*sentence*/, std::span<const std::int32_t> /*prompt*/) { return 0; }
  /// Called between two steps. Offers the text that a row of the last step has read, from its first token, for reuse by other
  /// rows.
  virtual void keep_prefix(std::int32_t /*row*/, std::span<const std::int32_t> /*text*/) {}
};

}  // namespace tril::search
