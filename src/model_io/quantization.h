// `quantization_config` of config.json: tril's own method (quantized_files.h), and those of other programs, whose matrices are
// read as floats (quantized_methods.h).
#pragma once

#include <memory>

#include "format/json_file.h"
#include "model_io/weight_files.h"
#include "nn/serving.h"

namespace tril::model {

/// The precision that the weights of a directory serve in where none is asked for: those with fewer than 16 bits in int8, or
/// int4 for tril's own 4 bits. @param config  config.json
/// @throws Error for a method or family that is not read
nn::Precision stored_precision_of(const JsonObject& config);

/// Tensors as a directory has them, with the matrices of another program's method as floats; unchanged without one.
/// @throws Error naming the key or tensor if an option is not known or parts do not belong together
WeightFiles dequantized(const JsonObject& config, std::shared_ptr<const WeightFiles> stored);

}  // namespace tril::model
