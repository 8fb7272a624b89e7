// Matrix products whose rows do not depend on the other rows of the batch. A matrix library chooses its algorithm,
// and so the order of its sums, by the number of rows: the last bits of a row differ between a large and a small
// batch. Here every product is cut into blocks of a fixed number of rows, the last one padded, on one thread, so
// that each row is always computed by the same code. A test checks for every instruction set of the library that a
// row's place in the block does not matter either.
#pragma once

#include "kern/kernels.h"

namespace tril::kern {

constexpr std::size_t invariant_rows = 16;

/// A copy of the table with such products. Products of quantised weights are batch-invariant anyway.
const Kernels& batch_invariant(const Kernels& kernels);

/// gemm() in such blocks. With `transpose_a` (used by gradients, not in serving) it is gemm() itself.
void batch_invariant_gemm(const Gemm& g);

}  // namespace tril::kern
