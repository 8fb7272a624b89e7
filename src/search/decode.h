// Decodes a list of sentences over one step function: as one of those that go on together ends, the next one that waits
// takes its place (running_batch.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "ops/ops.h"
#include "search/options.h"

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
struct Following {
  Tensor logits = {};
  Tensor hidden = {};
  ops::Weight weight = {};
  Tensor bias = {};
};

/// What a search drives: a model with its memory of what came before, or a table in a test.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::int64_t vocab_size() const = 0;
  /// Logits [rows, V] of what follows each row, or [sum of answers, V] of what follows each token that is to be
  /// answered; the caller's to change.
  virtual Tensor logits(Context& c, const StepInput& input) = 0;
  /// The same for a search that needs no more than the best of them.
  virtual Following following(Context& c, const StepInput& input) { return {.logits = logits(c, input)}; }
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

/// A token as it is chosen, of a greedy search or a sample.
struct NewToken {
  std::size_t request;  ///< an index into decode()'s requests
  std::int32_t sample;
  std::int32_t token;  ///< -1: none, the sample ends without another
  bool ended;
  const TokenScore* score = nullptr;  ///< where SearchOptions::top_log_probs asks for it; gone after the call
};
using OnToken = std::function<void(const NewToken&)>;

/// How far the search for a request has come.
struct Partial {
  std::size_t request;                   ///< an index into decode()'s requests
  std::span<const std::int32_t> tokens;  ///< of the best hypothesis that goes on, as generated; gone after the call
};
using OnPartial = std::function<void(const Partial&)>;

/// What is seen of a search while it goes on, and how it is ended; callbacks may be empty.
struct Watch {
  OnToken on_token = {};      ///< told of every token; not by a beam search, which may take tokens back
  OnPartial on_partial = {};  ///< told after every step, of each request that goes on
  /// Once it asks for it, from whatever thread, the search ends with the step that it is at, and all that goes on or waits
  /// is cut (Cut::cancelled).
  std::stop_token stop = {};
};

/// The hypotheses of each request, best first, or in the samples' order. At most `max_live` sentences are in a batch
/// together (0: all of them); the results do not depend on it.
std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, std::span<const Request> requests,
                                            const SearchOptions& options, std::int64_t max_live = 0,
                                            const Watch& watch = {});

}  // namespace tril::search
