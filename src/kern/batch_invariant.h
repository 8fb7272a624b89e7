// Products whose rows do not depend on the rows beside them. A library of matrix products picks its way, and with it the
// order of its sums, by the number of rows: alone, a row comes out otherwise in its last bits than among others. Here
// every product is cut into blocks of as many rows, the last one filled up, on one thread: each row then sees the same
// code whatever comes with it (that a row's place in the block does not matter either is tested, for every
// instruction set that the library has).
#pragma once

#include "kern/kernels.h"

namespace tril::kern {

constexpr std::size_t invariant_rows = 16;

/// The table with such products in the place of its own. Those of quantised weights are so by themselves.
const Kernels& batch_invariant(const Kernels& kernels);

/// gemm() in such blocks. With `transpose_a` (a gradient, which serving does not have) it is gemm() itself.
void batch_invariant_gemm(const Gemm& g);

}  // namespace tril::kern
