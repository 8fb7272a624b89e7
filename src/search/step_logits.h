// The logits of one step, for processors (processors.h), which read and change a few values of a row in place through
// kernels. Ids are always token ids, even if the logits have fewer columns than the vocabulary.
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
  /// @param logits    [rows, V], or one column for each of `columns`
  /// @param log_sums  [rows], log(sum(exp(row))), to give a forced token log-probability 0; empty: a forced token gets
  ///                  logit 0
  /// @param columns   the ids of the columns, ascending; empty: all ids. Changes of other ids are ignored; forcing another
  ///                  id forbids every column
  StepLogits(const Context& c, Tensor logits, std::span<const float> log_sums,
             std::span<const std::int32_t> columns = {});

  void forbid(std::int64_t row, std::int32_t id);
  /// Forbids all other ids.
  void force(std::int64_t row, std::int32_t id);
  /// Forbids all ids whose bit in `mask` is not set; `count` bits are set. Not available with columns.
  /// @return true if an allowed id remains
  bool keep(std::int64_t row, std::span<const std::uint64_t> mask, std::int64_t count);
  /// The logits of these ids; -inf for ids without a column.
  std::vector<float> at(std::int64_t row, std::span<const std::int32_t> ids) const;
  std::int64_t rows() const { return rows_; }
  /// Replaces each logit x of ids[i] by f(x, i). No id may occur twice.
  void change(std::int64_t row, std::span<const std::int32_t> ids,
              const std::function<float(float x, std::size_t i)>& f);

 private:
  bool keep_many(std::int64_t row, std::span<const std::uint64_t> mask);
  bool keep_few(std::int64_t row, std::span<const std::uint64_t> mask);
  /// The column of an id; nullopt: it has none.
  std::optional<std::int32_t> column_of(std::int32_t id) const;

  const Context* context_;
  const kern::Kernels* kernels_;
  float* values_;
  std::int64_t rows_, vocab_size_;
  std::span<const float> log_sums_;
  std::span<const std::int32_t> columns_;
};

}  // namespace tril::search
