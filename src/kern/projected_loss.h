// Cross-entropy of logits = x W^T + b in mixed precision, block by block in the first two cache levels: no complete
// row of logits exists. The forward pass keeps a running log-sum-exp for each row. The backward pass recomputes each
// block of logits and at once adds its contribution to dx and dW [Wijmans et al. 2025, "Cut your losses"].
#pragma once

#include "kern/gemm_bf16.h"

namespace tril::kern {

/// x [rows, d], W [vocab, d], b [vocab] or null; losses as in CrossEntropy.
struct ProjectedCrossEntropy {
  CrossEntropy loss;
  std::size_t rows = 0, vocab = 0, d = 0;
  const float* x = nullptr;
  std::size_t x_stride = 0;
  const std::uint16_t* w = nullptr;             ///< W^T, packed as a right operand
  const std::uint16_t* w_transposed = nullptr;  ///< W, packed as a right operand
  const float* bias = nullptr;
  float softcap = 0;                 ///< of the logits; 0: none
  float* lse = nullptr;              ///< [rows]: log-sum-exp of the logits, written forward, read backward
  std::uint16_t* scratch = nullptr;  ///< projected_loss_scratch(d) values
};

/// Each is null if it is not wanted.
struct ProjectedGradients {
  float* dx = nullptr;  ///< [rows, d], stored
  std::size_t dx_stride = 0;
  bool accumulate_x = false;
  float* dw = nullptr;  ///< [vocab, d], dense
  bool accumulate_w = false;
  float* db = nullptr;  ///< [vocab], added to
};

/// Rows that are packed at a time, columns of a block of logits, rows that share a panel of W in the forward pass.
constexpr std::size_t projected_loss_rows = 512, projected_loss_cols = 256, projected_loss_strip = 512;

constexpr std::size_t projected_loss_scratch(std::size_t d) {
  return packed_left_values(projected_loss_rows, d) + packed_right_values(projected_loss_rows, d) +
         packed_left_values(projected_loss_cols, projected_loss_rows) + packed_left_values(32, projected_loss_cols) +
         2 * projected_loss_strip * (3 * 16 + 1) + 64;
}

}  // namespace tril::kern
