#include "model_io/gguf/gguf_layers.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/as_size.h"
#include "base/error.h"

namespace tril::model {
namespace {

// The values of the model's own layers.
template <class T>
std::vector<T> of_own_layers(GgufReader& r, const char* key, std::int64_t layers, FurtherLayers further) {
  auto values = r.get<std::vector<T>>(key);
  if (!values) r.fail_at(key, "is missing");
  if (std::ssize(*values) < layers || (further == FurtherLayers::refused && std::ssize(*values) > layers))
    r.fail_at(key, fmt::format("has {} values for {} layers", values->size(), layers));
  values->resize(as_size(layers));
  return *std::move(values);
}

}  // namespace

std::vector<std::int64_t> sizes_by_layer(GgufReader& r, const char* key, std::int64_t layers, FurtherLayers further) {
  const GgufEntry* const entry = r.find(key);
  if (!entry || !entry->is_array) return std::vector<std::int64_t>(as_size(layers), r.needed_count(key));
  std::vector<std::int64_t> values = of_own_layers<std::int64_t>(r, key, layers, further);
  for (const std::int64_t value : values)
    if (value < 1 || value > 0x7fffffff) r.fail_at(key, fmt::format("{} is not a valid size", value));
  return values;
}

nlohmann::json layer_types_by_window(GgufReader& r, std::int64_t layers, FurtherLayers further) {
  nlohmann::json types = nlohmann::json::array();
  for (const bool slides : of_own_layers<bool>(r, "attention.sliding_window_pattern", layers, further))
    types.push_back(slides ? "sliding_attention" : "full_attention");
  return types;
}

bool has_sliding_window(const nlohmann::json& type) {
  return type == "sliding_attention";
}

void need_of_llama_cpp(bool ok, const nlohmann::json& config, const char* key) {
  if (!ok)
    fail_usage(key, fmt::format("{} is not what llama.cpp computes for a {} model", config.at(key).dump(),
                                config.at("model_type").get<std::string>()));
}

}  // namespace tril::model
