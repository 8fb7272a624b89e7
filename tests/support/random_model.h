// A model of a config.json with random weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "model_io/source/registry.h"

namespace tril::testing {

/// Every weight is random: a weight of 0 or 1 could hide a mistake.
inline std::unique_ptr<model::Model> random_model(const nlohmann::json& config,
                                                  std::optional<nn::Precision> serving = {}) {
  auto m = model::make(JsonObject(config, "config.json"));
  if (serving)
    m->parameters().allocate_serving(*serving);
  else
    m->parameters().allocate();
  std::uint64_t stream = 0;
  for (nn::Parameter& p : m->parameters().all()) {
    RandomSequence random(5, ++stream);
    std::vector<float> values(static_cast<std::size_t>(p.shape.count()));
    const bool norm = p.init.kind == nn::Init::Kind::constant && p.init.value == 1;
    // Scaled so that scores and activations are of ordinary size, however wide the model is.
    const double width = p.shape.rank() == 2 ? std::max(8.0, static_cast<double>(p.shape[1])) : 8.0;
    for (float& v : values) v = static_cast<float>((norm ? 1 : 0) + 0.4 * std::sqrt(8 / width) * random.normal());
    if (p.zero_row >= 0) {
      const std::int64_t columns = p.shape[1];
      std::fill_n(values.begin() + p.zero_row * columns, columns, 0.0f);
    }
    if (p.name.ends_with(".act_fn.eps"))
      values[0] = static_cast<float>(p.init.value);  // the only one that nn::Xielu takes
    m->parameters().set(kern::best(), p, values);
  }
  m->parameters().refresh(kern::best());
  return m;
}

}  // namespace tril::testing
