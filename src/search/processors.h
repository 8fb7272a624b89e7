// Logits processors: what a search may not say, and what it must. Each looks at the rows of a step and changes their
// logits where they lie, a few values through kernels; they run in the order in which make_processors() lists them,
// which is that of `transformers`:
//   logit bias, repetition penalty, presence and frequency penalty, repeated n-grams, bad words, minimum length, forced BOS, forced
//   EOS, suppressed tokens, tokens suppressed at the beginning, the beginning of a word behind a given prefix, a
//   constraint on the whole text
// (its sequence_bias of single tokens is the logit bias; it has no presence and frequency penalties: those are OpenAI's, and count what was generated alone, where the
// repetition penalty counts what was given too). What narrows the choice of a sample comes after them (warpers.h).
// They act on logits. Log-probabilities are of what biases and penalties leave, so that they never are above 0; what is
// forbidden takes nothing from and gives nothing to the rest, and a forced token has log-probability 0. In a beam search
// all of them act on log-probabilities without renormalising, as in `transformers`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/options.h"
#include "tensor/context.h"

namespace tril::search {

/// The logits of one step, to be changed.
class StepLogits {
 public:
  /// @param logits    [rows, V], or a column for each of `columns`
  /// @param log_sums  [rows], log(sum(exp(row))), so that a forced token can be given log-probability 0;
  ///                  empty: nobody asks
  /// @param columns   ids, ascending; none: all. What is done to other ids is nothing, and one that is forced and not
  ///                  there leaves nothing
  StepLogits(const Context& c, const Tensor& logits, std::span<const float> log_sums,
             std::span<const std::int32_t> columns = {});

  void forbid(std::int64_t row, std::int32_t id);
  /// Forbids everything else.
  void force(std::int64_t row, std::int32_t id);
  /// Forbids all ids but those whose bit is set in `mask`, `count` of them. Whether anything is left. Not with columns.
  bool keep(std::int64_t row, std::span<const std::uint64_t> mask, std::int64_t count);
  std::vector<float> at(std::int64_t row, std::span<const std::int32_t> ids) const;
  /// Each value x of ids[i], no id twice, becomes f(x, i).
  void change(std::int64_t row, std::span<const std::int32_t> ids,
              const std::function<float(float x, std::size_t i)>& f);

 private:
  /// Of an id; nothing where it has none.
  std::optional<std::int32_t> column_of(std::int32_t id) const;

  const Context* context_;
  const kern::Kernels* kernels_;
  float* values_;
  std::int64_t vocab_size_;
  std::span<const float> log_sums_;
  std::span<const std::int32_t> columns_;
};

/// All that is done to a row's logits where it can be said in few words.
struct RowRule {
  std::vector<std::int32_t> forbidden;
  std::int32_t forced = -1;  ///< all others are forbidden too

  void force(std::int32_t id) {
    forced = id;
    forbidden.clear();
  }
};

class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  virtual void apply(std::span<const RowView> rows, StepLogits& logits) const = 0;
  /// Whether it moves probability between tokens instead of forbidding some. In a list of make_processors() those that do
  /// are the first.
  virtual bool changes_values() const { return false; }
  /// Whether rule() says all that apply() does.
  virtual bool has_rule() const { return false; }
  /// Adds to what is known of the row's tokens.
  virtual void rule(const RowView&, RowRule&) const {}
};

using Processors = std::vector<std::unique_ptr<LogitsProcessor>>;

/// Those that the options call for.
Processors make_processors(const SearchOptions& options);

}  // namespace tril::search
