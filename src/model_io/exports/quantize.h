// Model directories with quantised weights. If config.json has
//   "quantization_config": {"quant_method": "tril", "bits": 8 or 4, "group_size": 32}
// a matrix X [out, in] is stored as integers with scales (kern/gemm_int8.h):
//   8 bits: X I8 [out, in], X_scale F32 [out]
//   4 bits: X U8 [out, ceil(in / 2)], two values a byte, the first in the lower half, each + 8;
//           X_multiplier U8 [out, ceil(in / 32)], X_scale F32 [out]
// in the model's layout, even if the family's files store X differently. Everything else is stored as usual. Loading the
// original directory with `--precision` gives the same numbers.
#pragma once

#include <filesystem>

#include "model_io/source/model_source.h"

namespace tril::model {

/// Quantises the matrices of `from`, a model with float weights, to 8 or 4 bits. Writes the directory `to`, with companion
/// files.
void quantize(const ModelSource& from, const std::filesystem::path& to, int bits);

}  // namespace tril::model
