// Reads `quantization_config` of config.json: tril's own method (quantize.h), and methods of other programs, whose
// matrices are read as floats (quantized_methods.h).
#pragma once

#include <memory>

#include "format/json_file.h"
#include "model_io/contents/weight_files.h"
#include "nn/serving.h"

namespace tril::model {

/// The precision for serving a directory if none is requested: int8 for weights with fewer than 16 bits, int4 for tril's own 4
/// bits, else fp32. @param config  config.json
/// @throws Error for an unsupported method or family
nn::Precision stored_precision_of(const JsonObject& config);

/// The tensors of a directory, where matrices that another program quantised are floats.
/// @throws Error naming the key or tensor if an option is unknown or parts do not fit together
WeightFiles dequantized(const JsonObject& config, std::shared_ptr<const WeightFiles> stored);

}  // namespace tril::model
