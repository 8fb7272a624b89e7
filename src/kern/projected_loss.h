// Cross-entropy of logits = x W^T + b in mixed precision, block by block in the first two caches: no row of logits is ever
// whole. The forward pass keeps a running log-sum-exp for each row; the backward pass multiplies again and makes of each
// block's softmax at once what it gives to dx and dW [Wijmans et al. 2025, "Cut your losses"].
#pragma once

#include "kern/gemm_bf16.h"

namespace tril::kern {

/// x [rows, d], W [vocab, d], b [vocab] or null; losses as in CrossEntropy.
struct ProjectedCrossEntropy {
  CrossEntropy loss;
  std::size_t rows = 0, vocab = 0, d = 0;
  const float* x = nullptr;
  std::size_t x_stride = 0;
  const std::uint16_t* w = nullptr;             ///< W^T as a right operand
  const std::uint16_t* w_transposed = nullptr;  ///< W as a right operand
  const float* bias = nullptr;
  float softcap = 0;                 ///< of the logits; 0: none
  float* lse = nullptr;              ///< [rows]: log-sum-exp of the logits, written forward, read backward
  std::uint16_t* scratch = nullptr;  ///< projected_loss_scratch(d) values
};

/// Each null where it is not wanted.
struct ProjectedGradients {
  float* dx = nullptr;  ///< [rows, d], stored
  std::size_t dx_stride = 0;
  bool accumulate_x = false;
  float* dw = nullptr;  ///< [vocab, d], dense
  bool accumulate_w = false;
  float* db = nullptr;  ///< [vocab], added to
};

/// Rows whose operands are packed at a time, columns of a block of logits, rows that share a panel of W going forward.
constexpr std::size_t projected_loss_rows = 512, projected_loss_cols = 256, projected_loss_strip = 512;

constexpr std::size_t projected_loss_scratch(std::size_t d) {
  return packed_left_values(projected_loss_rows, d) + packed_right_values(projected_loss_rows, d) +
         packed_left_values(projected_loss_cols, projected_loss_rows) + packed_left_values(32, projected_loss_cols) +
         2 * projected_loss_strip * (3 * 16 + 1) + 64;
}

}  // namespace tril::kern
