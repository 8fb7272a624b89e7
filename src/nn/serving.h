// Weights in the form for serving: matrices only in the form that products read, and those with the same input one
// below the other.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nn/parameter.h"

namespace tril::nn {

/// The names of the precisions for users, in the order of the enum.
inline constexpr std::array<std::string_view, 5> precision_names{"fp32", "bf16", "int8", "int4", "blocks"};
constexpr std::string_view name_of(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// The form of the matrices of a serving model.
struct ServingForm {
  Precision precision = Precision::fp32;
  bool compact = false;  ///< in bf16: matrices are compact (kern/compact_bf16.h)

  ServingForm() = default;
  /// The faster form on this processor. Implicit, so that a precision can be passed as a form.
  ServingForm(Precision p);
};

/// Bytes of a weight as it is stored for serving: what a product with it reads.
double product_bytes(const Parameter& p, ServingForm form);

/// Bits of a weight's integers if the model serves in `precision`; 0: it stays in floats or in blocks. Embedding tables and the
/// output matrix keep 8 bits in int4: they are read by rows, or decide the next word.
int quantized_bits(const Parameter& p, Precision precision);

/// The blocks in which the model keeps the weight if it serves in `precision`; none: it is in integers or in floats.
kern::BlockFormat served_blocks(const Parameter& p, Precision precision);

/// True if the serving model keeps the weight's floats because something reads them.
bool is_kept_in_floats(const Parameter& p, Precision precision);

/// Makes the tensor at `begin` bytes in a block of memory.
using TensorAt = std::function<Tensor(std::size_t begin, const Shape& shape, DType dtype)>;

/// A section of a block of memory; empty without values.
struct Section {
  std::size_t begin = 0;  ///< in bytes
  std::int64_t count = 0;
  DType type = DType::f32;
};

/// The sections of a matrix [out, in] in the form that products read. A form has only some of them.
struct MatrixSections {
  std::int64_t out = 0, in = 0;
  int bits = 0;  ///< of the integers; 0: floats or blocks
  kern::BlockFormat format = kern::BlockFormat::none;
  Section transposed = {}, packed = {}, values = {}, multipliers = {}, scales = {}, sums = {};
  Section tiles = {}, tables = {}, rest = {};  ///< of a compact matrix
};

/// Where the matrices of a serving model lie in a block. It is computed before the block is allocated or mapped.
struct ServingLayout {
  struct StackSections {
    MatrixSections matrix;  ///< of all matrices of the stack
    Section bias;
  };
  std::vector<std::optional<StackSections>> stacks;  ///< for each stack; none: its matrices are stored separately
  std::vector<std::pair<const Parameter*, MatrixSections>> matrices;  ///< of the other weights that have such a form
  std::size_t rest = 0;  ///< where the `rest` of compact matrices begins, after everything else: little of it is used
  std::size_t end = 0;   ///< in bytes
};
/// @param begin  the byte at which the first matrix begins, a multiple of 64
ServingLayout lay_out_matrices(const std::deque<Parameter>& list, const std::deque<Stack>& stacks, ServingForm form,
                               std::size_t begin);

/// All matrices in the form that products read.
struct ServingMatrices {
  std::unordered_map<const Parameter*, ops::Weight> forms;  ///< of the weights that have such a form
  std::vector<std::vector<Stack::Part>> stacks;             ///< Stack::from of each stack
};
ServingMatrices place_matrices(const ServingLayout& layout, const std::deque<Stack>& stacks, const TensorAt& at);

/// Fills the forms for which memory exists with values [rows, in] of a matrix, from row `row` on. Parts are of whole panels of 32 rows,
/// but for the last one; a transposed matrix (fp32) must be given whole.
void fill_forms(const kern::Kernels& kernels, Parameter& p, std::span<const float> values, std::int64_t row = 0);
/// The same for a matrix that is already quantised. @throws Error if it is not served with this number of bits
void fill_forms(const kern::Kernels& kernels, Parameter& p, const QuantizedRows& rows);
/// The same for a matrix in the blocks of a file. @throws Error if a scale is not finite
void fill_forms(const kern::Kernels& kernels, Parameter& p, const BlockRows& rows);

}  // namespace tril::nn
