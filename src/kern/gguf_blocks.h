// The values that GGUF files hold in blocks, to float and back. Layouts are those that ggml publishes (ggml-common.h);
// gguf_blocks.cpp has each with its formula.
#pragma once

#include <cstddef>

#include "format/gguf.h"

namespace tril::kern {

/// y[0 ... values) = what `blocks` hold; `values` is a multiple of values_of_block(type). Every type that GgufType has.
void dequantize_blocks(GgufType type, const std::byte* blocks, std::size_t values, float* y);

/// Whether quantize_blocks() makes blocks of this type: F32, F16, BF16, Q8_0, Q4_0.
bool can_quantize_blocks(GgufType type);

/// The blocks of x[0 ... values), the nearest of each type by ggml's rounding: the same bytes that ggml makes.
void quantize_blocks(GgufType type, const float* x, std::size_t values, std::byte* blocks);

}  // namespace tril::kern
