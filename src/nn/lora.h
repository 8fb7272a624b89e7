// Low-rank adaptation: a frozen matrix W of a linear layer is trained as W + s B A, with A [rank, in], B [out, rank], s
// = alpha / rank [Hu et al. 2022, eq. 3]. A starts random, B zero, so training starts from the unchanged model.
//   y = residual + dropout(f(x W^T + b + s dropout'(x) A^T B^T))
// dA = s (dz B)^T x and dB = s dz^T (x A^T) follow from the gradients of the ops used; W has no gradient. After
// training, s B A is added to W, and the layer is an ordinary one again.
#pragma once

#include <span>
#include <string>

#include "nn/parameters.h"

namespace tril::nn {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;  ///< on the input of A
};

struct Lora {
  Parameter *a = nullptr, *b = nullptr;
  float scale = 1, dropout = 0;
};

/// Adapts `weight`, a matrix of a linear layer named "X.weight": declares X.lora_A.weight and X.lora_B.weight, and
/// freezes the matrix. Call it before allocate().
void add_lora(Parameters& p, Parameter& weight, const LoraOptions& options);

/// Linear::forward for an adapted weight.
Tensor lora_linear(Context& c, const Tensor& x, const Parameter& weight, const Tensor& bias,
                   const ops::LinearOptions& options);

/// All weights in the layout of the flat block, with every adapter's product added to its matrix.
std::vector<float> merged_weights(const Parameters& p);

}  // namespace tril::nn
