// Which weights serve with fewer bits.
#pragma once

#include <array>
#include <string_view>

#include "nn/parameters.h"

namespace tril::nn {

/// What users call the precisions, in their order.
inline constexpr std::array<std::string_view, 4> precision_names{"fp32", "bf16", "int8", "int4"};
constexpr std::string_view name_of(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// Bits of a weight's whole numbers where the model serves in `precision`; 0: it stays in floats. Tables and the output's
/// matrix keep 8 in int4: they are read by rows, or decide which word comes.
int quantized_bits(const Parameter& p, Precision precision);

}  // namespace tril::nn
