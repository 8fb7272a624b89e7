// Weights as a model serves with them: matrices in the one form that products read, those over one input below each
// other.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nn/parameter.h"

namespace tril::nn {

/// What users call the precisions, in their order.
inline constexpr std::array<std::string_view, 4> precision_names{"fp32", "bf16", "int8", "int4"};
constexpr std::string_view name_of(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// Bits of a weight's whole numbers where the model serves in `precision`; 0: it stays in floats. Tables and the output's
/// matrix keep 8 in int4: they are read by rows, or decide which word comes.
int quantized_bits(const Parameter& p, Precision precision);

/// Whether the model that serves keeps the weight's floats, since something reads them.
bool is_kept_in_floats(const Parameter& p, Precision precision);

/// Makes the tensor that lies `begin` bytes into a block of memory.
using TensorAt = std::function<Tensor(std::size_t begin, const Shape& shape, DType dtype)>;

/// Every matrix in the form that products read, all in one block.
struct ServingMatrices {
  std::unordered_map<const Parameter*, ops::Weight> forms;  ///< of the weights that have one
  std::vector<std::vector<Stack::Part>> stacks;             ///< Stack::from of each stack
  std::size_t bytes = 0;
};
/// Lays matrices out from the beginning of a block. Without `at` there is no block yet: only `bytes` counts.
ServingMatrices lay_out_matrices(const std::deque<Parameter>& list, const std::deque<Stack>& stacks,
                                 Precision precision, const TensorAt& at = {});

/// Fills whatever forms there is memory for with a matrix's values [out, in].
void fill_forms(const kern::Kernels& kernels, Parameter& p, std::span<const float> values);
/// The same of a matrix that was quantised before. Throws Error where it is not served with these bits.
void fill_forms(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& rows);

}  // namespace tril::nn
