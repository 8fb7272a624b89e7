// Adapters of a loaded model: low-rank products are added to those of its matrices, which stay as they are, in any
// precision. A model may have several adapters, and rows of one batch may use different ones (Context::Adapters). One
// product with the matrix serves all rows; then the rows of each adapter are changed together.
//   y = x W^T + b
//   LoRA   y' = y + s x A^T B^T                                                   [Hu et al. 2022, eq. 3]
//   DoRA   y' = g (x W^T + s x A^T B^T) + b,  g_i = m_i / |W_i + s (B A)_i|          [Liu et al. 2024, eq. 5]
//   A [rank, in]   B [out, rank]   W [out, in]   m, g, b [out]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nn/parameter.h"

namespace tril::nn {

/// One adapter's change of one matrix [out, in]. For a table [vocab, d] and for the output matrix it is always `whole`.
struct WeightChange {
  ops::Weight whole;  ///< replaces the matrix or table; only `offset` may be set beside it
  ops::Weight a;      ///< A [rank, in]; none: no low-rank product
  ops::Weight b;      ///< g s B [out, rank]
  Tensor gain;        ///< g [out]; none: 1
  Tensor offset;      ///< added to the products [out]: the change of the bias, or with `whole` the entire bias; none: 0
};

/// Indexed by the model's numbers of adapters.
struct WeightAdapters {
  std::vector<std::optional<WeightChange>> of;
  std::int32_t standard = -1;  ///< the adapter of rows that name none; -1: none
  /// Parameter::row_adapters only: the changes of the rows that the encoder reads (Embedding::of_encoder); null: none.
  std::shared_ptr<const WeightAdapters> of_encoder = nullptr;
};

/// A float32 matrix in the form that products read. @param values  [rows, columns]
ops::Weight adapter_matrix(std::span<const float> values, std::int64_t rows, std::int64_t columns);
Tensor adapter_vector(std::span<const float> values);

/// True if the adapter of any row that is computed now changes this weight.
bool is_adapted(const Context& c, const Parameter& weight);
/// The same for Parameter::adapters or Parameter::row_adapters.
bool is_adapted(const Context& c, const WeightAdapters* adapters);
/// The change of the weight if all these rows have the same adapter; null: no change, or different adapters.
const WeightChange* change_of_all(const Context& c, const Parameter& weight);
/// Changes y [N, out], the products of x [N, in] with the weight and its bias, in place; y may be columns of a wider
/// matrix. Nothing is recorded on a tape.
/// @throws Error if the context names the adapters of another number of rows
void adapt(Context& c, const Tensor& x, const Parameter& weight, Tensor y);
/// Changes y [N, d], the rows `ids` of a table times `scale`, in place.
void adapt_rows(Context& c, std::span<const std::int32_t> ids, const WeightAdapters& adapters, float scale, Tensor y);

/// Sets the context's adapters until it is destroyed.
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
