// The values of a stored tensor as floats, by the processor's vectors. to_f32() gives the same values one by one: format/ is below
// kern/.
#pragma once

#include <span>
#include <vector>

#include "format/safetensors.h"

namespace tril::model {

/// Writes all values in float32 to out [view.elements()]. @throws Error as to_f32()
void read_values(const WeightView& view, std::span<float> out);
/// The same as a list.
std::vector<float> read_values(const WeightView& view);

}  // namespace tril::model
