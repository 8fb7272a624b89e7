// Random adapters of any model.
#pragma once

#include <memory>
#include <vector>

#include "base/rng.h"
#include "model/spec/model.h"
#include "nn/adapters.h"

namespace tril::testing {

inline constexpr std::int32_t adapter_count = 3;

// Low-rank products beside every linear layer; the second adapter changes only every other one, the third has gains.
inline void give_adapters(model::Model& m, std::int32_t standard = -1) {
  RandomSequence random(21, 5);
  const auto drawn = [&](std::int64_t n, double size) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& v : values) v = static_cast<float>(size * random.normal());
    return values;
  };
  std::size_t number = 0;
  for (nn::Parameter& p : m.parameters().all()) {
    if (!p.adaptable) continue;
    auto all = std::make_shared<nn::WeightAdapters>();
    all->standard = standard;
    all->of.resize(adapter_count);
    for (std::int32_t k = 0; k < adapter_count; ++k) {
      const std::int64_t out = p.shape[0], in = p.shape[1], rank = 2 + k;
      nn::WeightChange change;
      change.a = nn::adapter_matrix(drawn(rank * in, 0.3), rank, in);
      change.b = nn::adapter_matrix(drawn(out * rank, 0.3), out, rank);
      if (k == 2) change.gain = nn::adapter_vector(drawn(out, 1)), change.offset = nn::adapter_vector(drawn(out, 0.1));
      if (k != 1 || number % 2 == 0) all->of[static_cast<std::size_t>(k)] = change;
    }
    ++number;
    p.adapters = std::move(all);
  }
}

}  // namespace tril::testing
