// Weights of single experts from files that hold all experts of a layer in two tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model_io/contents/weight_files.h"

namespace tril::model {

/// Replaces X.experts.gate_up_proj and X.experts.down_proj by X.experts.E.gate_proj.weight [F, D], X.experts.E.up_proj.weight
/// [F, D] and X.experts.E.down_proj.weight [D, F] of each expert E. Qwen's files hold the two tensors as [E, D, 2 F] and
/// [E, F, D], those that `transformers` 5 writes as [E, 2 F, D] and [E, D, F]; the first F of the 2 F are the gate. Views of
/// the second form point into the file; values of the first are transposed when they are read.
/// @param in_file  the files' names of the tensors, by name; those of the new ones are added
/// @throws Error naming the tensor if one of the two is missing, or its shape is none of these
std::vector<StoredTensor> split_experts(const std::vector<StoredTensor>& tensors,
                                        std::map<std::string, std::string, std::less<>>& in_file);

}  // namespace tril::model
