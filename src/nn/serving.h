// Which weights serve with fewer bits.
#pragma once

#include "nn/parameters.h"

namespace tril::nn {

/// Bits of a weight's whole numbers where the model serves in `precision`; 0: it stays in floats. Tables and the output's
/// matrix keep 8 in int4: they are read by rows, or decide which word comes.
int quantized_bits(const Parameter& p, Precision precision);

}  // namespace tril::nn
