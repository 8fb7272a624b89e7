// The logits of one step, where they lie, for processors (processors.h): a few values of a row are read and changed
// through kernels. An id is always a token's, also where the logits have fewer columns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tensor/context.h"

namespace tril::search {

class StepLogits {
 public:
  /// @param logits    [rows, V], or a column for each of `columns`
  /// @param log_sums  [rows], log(sum(exp(row))), so that a forced token can be given log-probability 0;
  ///                  empty: nobody asks
  /// @param columns   ids, ascending; none: all. What is done to other ids is nothing, and one that is forced and not
  ///                  there leaves nothing
  StepLogits(const Context& c, Tensor logits, std::span<const float> log_sums,
             std::span<const std::int32_t> columns = {});

  void forbid(std::int64_t row, std::int32_t id);
  /// Forbids everything else.
  void force(std::int64_t row, std::int32_t id);
  /// Forbids all ids but those whose bit is set in `mask`, `count` of them. Not with columns.
  /// @return whether any is left
  bool keep(std::int64_t row, std::span<const std::uint64_t> mask, std::int64_t count);
  /// The logits of ids; -inf where there is no column.
  std::vector<float> at(std::int64_t row, std::span<const std::int32_t> ids) const;
  /// Each value x of ids[i], no id twice, becomes f(x, i).
  void change(std::int64_t row, std::span<const std::int32_t> ids,
              const std::function<float(float x, std::size_t i)>& f);

 private:
  bool keep_many(std::int64_t row, std::span<const std::uint64_t> mask);
  bool keep_few(std::int64_t row, std::span<const std::uint64_t> mask);
  /// Of an id; nothing where it has none.
  std::optional<std::int32_t> column_of(std::int32_t id) const;

  const Context* context_;
  const kern::Kernels* kernels_;
  float* values_;
  std::int64_t vocab_size_;
  std::span<const float> log_sums_;
  std::span<const std::int32_t> columns_;
};

}  // namespace tril::search
