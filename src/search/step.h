// What a search drives: a model with its memory of what came before, or a table in a test. A step takes the rows' new tokens
// and answers what follows each of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

namespace tril::search {

/// The rows of one step, a sentence's rows beside each other.
struct StepInput {
  std::span<const std::int32_t> ids;     ///< the tokens that are new, row after row
  std::span<const std::int32_t> counts;  ///< [rows] how many of them: one, and all that is given for one that begins
  /// [rows] which row of the step before this one goes on from; -1: a sentence that begins. Those come last.
  std::span<const std::int32_t> parents;
  std::span<const std::int32_t> sentences;  ///< [rows] whose row it is: an index into decode()'s requests
  /// [rows] how many of the last tokens that its parent read a row has not taken; empty: it has taken all.
  std::span<const std::int32_t> cuts = {};
  /// [rows] how many of a row's last new tokens are to be answered; empty: the last one of each alone.
  std::span<const std::int32_t> answers = {};
  /// [rows] tokens that each row is given before it generates; empty: as many as it has with these.
  std::span<const std::int32_t> given = {};
};

/// What follows each row: logits [rows, V], or where there are none hidden states [rows, D] and the quantised matrix
/// that makes logits of them.
struct StepOutput {
  Tensor logits = {};
  Tensor hidden = {};
  ops::Weight weight = {};
  Tensor bias = {};
};

/// A model with what it remembers of the rows of the steps before.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::int64_t vocab_size() const = 0;
  /// Logits [rows, V] of what follows each row, or [sum of answers, V] of what follows each token that is to be
  /// answered; the caller's to change.
  virtual Tensor logits(Context& c, const StepInput& input) = 0;
  /// The same for a search that needs no more than the best of them.
  virtual StepOutput output(Context& c, const StepInput& input) { return {.logits = logits(c, input)}; }
  /// Takes tokens none of which is to be answered: the beginnings of prompts.
  virtual void read(Context& c, const StepInput& input) = 0;
  /// Asked right before a step in which a sentence begins: how many of the tokens that it is given were read before, for
  /// others, so that its row begins behind them. Never the last.
  virtual std::int32_t remembered(std::int32_t /*sentence*/, std::span<const std::int32_t> /*given*/) { return 0; }
  /// Told between two steps what a row of the last one has read from its beginning; more than that may be given.
  virtual void remember(std::int32_t /*row*/, std::span<const std::int32_t> /*text*/) {}
  /// The ids that the columns of the last logits() stand for, ascending; none: all ids.
  virtual std::span<const std::int32_t> columns() const { return {}; }
  /// What the rows of the last logits() looked at, where the step was made to keep it: row after row a weight for each
  /// token of the source of its sentence.
  struct Attention {
    std::vector<float> weights;
    std::vector<std::int32_t> lengths;  ///< [rows]
  };
  virtual const Attention* attention() const { return nullptr; }
};

}  // namespace tril::search
