// Low-rank adaptation: a frozen matrix W of a linear layer trains as W + s B A, A [rank, in], B [out, rank], s = alpha /
// rank [Hu et al. 2022, eq. 3]. A begins at random, B at zero, so that training begins at the model as it is.
//   y = residual + dropout(f(x W^T + b + s dropout'(x) A^T B^T))
// dA = s (dz B)^T x and dB = s dz^T (x A^T) come from the ops that it is made of; W has no gradient. Once trained,
// s B A is added to W and the layer is what it was.
#pragma once

#include <span>
#include <string>

#include "nn/parameters.h"

namespace tril::nn {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;  ///< on what enters A
};

struct Lora {
  Parameter *a = nullptr, *b = nullptr;
  float scale = 1, dropout = 0;
};

/// Adapts `weight`, a matrix of a linear layer named "X.weight": declares X.lora_A.weight and X.lora_B.weight, and
/// freezes the matrix. Before allocate().
void add_lora(Parameters& p, Parameter& weight, const LoraOptions& options);

/// Linear::forward of an adapted weight.
Tensor lora_linear(Context& c, const Tensor& x, const Parameter& weight, const Tensor& bias,
                   const ops::LinearOptions& options);

/// All weights, laid out as the flat block, with every adapter's product added to its matrix.
std::vector<float> merged_weights(const Parameters& p);

}  // namespace tril::nn
