// Converts GGUF's blocks of values to float and back. The layouts are those that ggml publishes (ggml-common.h);
// gguf_blocks.cpp gives each with its formula.
#pragma once

#include <cstddef>

#include "format/gguf.h"

namespace tril::kern {

/// y[0 ... values) = the values of `blocks`; `values` is a multiple of values_of_block(type). All types of GgufType
/// are supported.
void dequantize_blocks(GgufType type, const std::byte* blocks, std::size_t values, float* y);

/// True if quantize_blocks() supports this type: F32, F16, BF16, Q8_0, Q4_0.
bool can_quantize_blocks(GgufType type);

/// Quantises x[0 ... values) with ggml's rounding: the bytes are the same as ggml's.
void quantize_blocks(GgufType type, const float* x, std::size_t values, std::byte* blocks);

}  // namespace tril::kern
