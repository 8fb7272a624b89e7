// A model of a config.json with random weights.
#pragma once

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/registry.h"

namespace tril::testing {

/// Every weight random: none is at 0 or 1, where a mistake would not show.
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
    for (float& v : values) v = static_cast<float>((norm ? 1 : 0) + 0.4 * random.normal());
    m->parameters().set(kern::best(), p, values);
  }
  m->parameters().refresh(kern::best());
  return m;
}

}  // namespace tril::testing
