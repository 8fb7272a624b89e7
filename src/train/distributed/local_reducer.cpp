#include "train/distributed/local_reducer.h"

namespace tril::train {

std::vector<PartGradient> LocalReducer::part_gradients(const Update& update) const {
  std::vector<PartGradient> list;
  for (std::size_t part = 0; part < passes_.parts() && passes_.parts() > 1; ++part)
    list.push_back({optimizer_.squared_norm_of(part), static_cast<double>(update.own.target_tokens_of(part))});
  return list;
}

}  // namespace tril::train
