// Draft heads of random weights.
#pragma once

#include <vector>

#include "base/rng.h"
#include "kern/kernels.h"
#include "nn/medusa_heads.h"
#include "tensor/tensor.h"

namespace tril::testing {

struct RandomHeads {
  // deviation: of the layers; 0: every head proposes what the model chooses next.
  explicit RandomHeads(const nn::MedusaSizes& sizes, double deviation = 0.3) : heads(parameters, sizes) {
    parameters.allocate();
    RandomSequence random(9, 1);
    for (nn::Parameter& p : parameters.all()) {
      const double each = p.shape.rank() == 2 && p.shape[0] == sizes.own_vocab ? 1 : deviation;
      std::vector<float> values(static_cast<std::size_t>(p.shape.count()));
      for (float& v : values) v = static_cast<float>(each * random.normal());
      host_write<float>(p.value, values);
    }
    parameters.refresh(kern::best());
  }
  nn::Parameters parameters;
  nn::MedusaHeads heads;
};

}  // namespace tril::testing
