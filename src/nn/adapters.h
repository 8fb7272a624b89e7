// Adapters of a served model: low-rank products beside its matrices, which stay as they are, whatever their precision. A
// model may have several, and rows of one batch may use different ones (Context::Adapters): the product with the matrix
// is one for all rows, and each adapter's rows are then changed together.
//   y = x W^T + b
//   LoRA   y' = y + s x A^T B^T                                                   [Hu et al. 2022, eq. 3]
//   DoRA   y' = g (x W^T + s x A^T B^T) + b,  g_i = m_i / |W_i + s (B A)_i|          [Liu et al. 2024, eq. 5]
//   A [rank, in]   B [out, rank]   W [out, in]   m, g, b [out]
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nn/parameter.h"

namespace tril::nn {

/// What one adapter makes of one matrix [out, in] of products. What it makes of a table [vocab, d], or of the output
/// matrix, is always a whole one.
struct WeightChange {
  ops::Weight whole;  ///< stands in place of the matrix or table; nothing else but `offset` is set then
  ops::Weight a;      ///< A [rank, in]; none: no low-rank product
  ops::Weight b;      ///< g s B [out, rank]
  Tensor gain;        ///< g [out]; none: 1
  Tensor offset;      ///< added to the products [out]: what changes of the bias; with `whole`, all of the bias; none: 0
};

/// By the model's numbers of adapters.
struct WeightAdapters {
  std::vector<std::optional<WeightChange>> of;
  std::int32_t standard = -1;  ///< the one of rows that name none; -1: none
};

/// A float32 matrix as products read it. @param values  [rows, columns]
ops::Weight adapter_matrix(std::span<const float> values, std::int64_t rows, std::int64_t columns);
Tensor adapter_vector(std::span<const float> values);

/// Whether some row that is computed now has an adapter that changes this weight.
bool is_adapted(const Context& c, const Parameter& weight);
/// The same of Parameter::adapters or Parameter::row_adapters.
bool is_adapted(const Context& c, const WeightAdapters* adapters);
/// What the adapter of all these rows makes of it; null: nothing, or they have different adapters.
const WeightChange* change_of_all(const Context& c, const Parameter& weight);
/// Changes y [N, out], the products of x [N, in] with the weight and its bias, in place; y may be columns of a wider
/// matrix. Nothing is recorded on a tape.
/// @throws Error if the context names the adapters of another number of rows
void adapt(Context& c, const Tensor& x, const Parameter& weight, Tensor y);
/// Changes y [N, d], the rows `ids` of a table times `scale`, in place.
void adapt_rows(Context& c, std::span<const std::int32_t> ids, const Parameter& table, float scale, Tensor y);

/// The adapters of the rows that are computed, for as long as it lives.
class AdapterScope {
 public:
  AdapterScope(Context& c, const Context::Adapters& adapters) : context_(&c), before_(c.adapters()) {
    c.set_adapters(adapters);
  }
  ~AdapterScope() { context_->set_adapters(before_); }
  AdapterScope(const AdapterScope&) = delete;
  AdapterScope& operator=(const AdapterScope&) = delete;

 private:
  Context* context_;
  Context::Adapters before_;
};

}  // namespace tril::nn
