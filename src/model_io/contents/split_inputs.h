// The inputs of the gated delta rule from files that hold them in one matrix.
#pragma once

#include <memory>

#include "format/json_file.h"
#include "model_io/contents/weight_files.h"

namespace tril::model {

/// Of a lara_mini, replaces X.linear_attn.in_proj.weight by X.linear_attn.in_proj_qkv.weight, in_proj_z, in_proj_b and in_proj_a: its rows
/// in this order. Other families' files, and those with separate tensors, as they are. @throws Error naming a tensor of another shape
std::shared_ptr<const WeightFiles> split_inputs(std::shared_ptr<const WeightFiles> whole, const JsonObject& config);

}  // namespace tril::model
