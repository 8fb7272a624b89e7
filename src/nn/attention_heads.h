// Heads of one decoder layer's cross-attention, whose mean is recorded or trained.
#pragma once

#include <cstdint>
#include <vector>

namespace tril::nn {

struct AttentionHeads {
  std::int64_t layer = -1;          ///< -1: the last
  std::vector<std::int32_t> heads;  ///< empty: all
};

}  // namespace tril::nn
