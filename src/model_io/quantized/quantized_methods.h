// Readers of other programs' quantisation methods. Each turns the tensors of a quantised matrix into one tensor of floats,
// with the values that the method's own program computes.
#pragma once

#include "format/json_file.h"
#include "model_io/quantized/quantized_tensors.h"

namespace tril::model {

/// All take `quantization_config` and the tensors. @throws Error for an unknown key or value, and for parts that do not fit
/// together

/// fp8, fbgemm_fp8: W = s_block q, q an 8-bit float; one scale for a matrix, a row or a block. In float32.
void read_fp8(const JsonObject& scheme, QuantizedTensors& tensors);
/// compressed-tensors: W = s (q - z) rounded to the scales' type; q of 8 bits, or 2 to 8 bits packed into words.
void read_compressed_tensors(const JsonObject& scheme, QuantizedTensors& tensors);
/// GPTQ: W = s (q - z) rounded to the scales' type, packed along the inputs, with a group for each input [Frantar et al. 2022].
void read_gptq(const JsonObject& scheme, QuantizedTensors& tensors);
/// AWQ: W = s (q - z) rounded to the scales' type, packed along the outputs in its own order [Lin et al. 2023].
void read_awq(const JsonObject& scheme, QuantizedTensors& tensors);
/// MXFP4: W = 2^(e - 127) q, q a 4-bit float, for experts in one tensor [OCP Microscaling Formats 1.0]. Exact.
void read_mxfp4(const JsonObject& scheme, QuantizedTensors& tensors);
/// bitsandbytes: NF4 or FP4, W = a_block c(q) rounded to the original type; the block's maximum a may be quantised too. 8
/// bits: W = q s / 127 [Dettmers et al. 2022, 2023].
void read_bitsandbytes(const JsonObject& scheme, QuantizedTensors& tensors);

}  // namespace tril::model
