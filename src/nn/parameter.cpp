#include "nn/parameter.h"

#include <cmath>

namespace tril::nn {

Init Init::xavier(std::int64_t in, std::int64_t out) {
  return {Kind::uniform, std::sqrt(6.0 / static_cast<double>(in + out))};
}

Init Init::at_depth(std::int64_t depth) const {
  return {kind, value / std::sqrt(static_cast<double>(depth))};
}

}  // namespace tril::nn
