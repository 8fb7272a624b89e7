// GGUF's blocks below four bits a value, and its blocks of small floats: codebooks (IQ), ternary digits (TQ), FP4.
#pragma once

#include <cstddef>

#include "format/gguf.h"

namespace tril::kern::gguf {

/// dequantize_blocks() of kern/gguf_blocks.h for IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, TQ1_0, TQ2_0,
/// MXFP4 and NVFP4: the same float32 values as the gguf package's.
void dequantize_codebook_blocks(GgufType type, const std::byte* blocks, std::size_t values, float* y);

}  // namespace tril::kern::gguf
