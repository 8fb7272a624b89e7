// Which attention is looked at or trained: some heads of one decoder layer, of whose cross-attention the mean is taken.
#pragma once

#include <cstdint>
#include <vector>

namespace tril::nn {

struct AttentionHeads {
  std::int64_t layer = -1;          ///< -1: the last
  std::vector<std::int32_t> heads;  ///< none: all
};

}  // namespace tril::nn
