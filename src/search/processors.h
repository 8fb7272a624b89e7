// Logits processors: what a search may not say, and what it must. Each looks at the rows of a step and changes their
// logits where they lie, a few values through kernels; they run in the order in which make_processors() lists them,
// which is that of `transformers`:
//   repeated n-grams, bad words, minimum length, forced BOS, forced EOS, suppressed tokens, tokens suppressed at the
//   beginning
// They act on log-probabilities without renormalising: what is forbidden takes nothing from and gives nothing to the
// rest, and a forced token has log-probability 0.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/options.h"
#include "tensor/context.h"

namespace tril::search {

/// What a processor may know of a row.
struct RowView {
  std::span<const std::int32_t> tokens;  ///< the start token, then what was generated
  const Request* request = nullptr;

  std::int32_t generated() const { return static_cast<std::int32_t>(tokens.size()) - 1; }
};

/// The logits of one step, to be changed.
class StepLogits {
 public:
  /// @param logits    [rows, V]
  /// @param log_sums  [rows], log(sum(exp(row))), so that a forced token can be given log-probability 0;
  ///                  empty: nobody asks
  StepLogits(const Context& c, const Tensor& logits, std::span<const float> log_sums);

  void forbid(std::int64_t row, std::int32_t id);
  /// Forbids everything else.
  void force(std::int64_t row, std::int32_t id);

 private:
  const kern::Kernels* kernels_;
  float* values_;
  std::int64_t vocab_size_;
  std::span<const float> log_sums_;
};

class LogitsProcessor {
 public:
  virtual ~LogitsProcessor() = default;
  virtual void apply(std::span<const RowView> rows, StepLogits& logits) const = 0;
};

using Processors = std::vector<std::unique_ptr<LogitsProcessor>>;

/// Those that the options call for.
Processors make_processors(const SearchOptions& options);

}  // namespace tril::search
