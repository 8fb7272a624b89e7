#include "train/distributed/initialise.h"

#include <span>

#include "base/as_size.h"
#include "tensor/lasting.h"

namespace tril::train {

void initialise(nn::Parameters& parameters, const Optimizer& optimizer, std::uint64_t seed) {
  if (!optimizer.shards_weights()) return parameters.initialise(seed);
  const Division& division = optimizer.division();
  std::size_t next = 0;  // stretches are in the order of the weights
  const std::vector<Stretch>& all = division.stretches();
  float* const values = parameters.flat().data<float>();
  parameters.initialise(seed, [&](const nn::Parameter& p) {
    const auto end = as_size(parameters.offset_of(p) + p.shape.count());
    for (; next < all.size() && all[next].begin < end; ++next)
      if (division.owner_of(next) != division.rank())
        give_back(std::as_writable_bytes(std::span(values + all[next].begin, all[next].count)));
  });
}

}  // namespace tril::train
