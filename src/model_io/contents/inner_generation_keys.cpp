#include "model_io/contents/inner_generation_keys.h"

namespace tril::model {

nlohmann::json with_inner_generation_keys(nlohmann::json config) {
  for (const char* section : {"decoder", "text_config"}) {
    if (!config.is_object() || !config.contains(section) || !config.at(section).is_object()) continue;
    const nlohmann::json inner = config.at(section);
    for_generation_keys([&](const std::string& key) {
      const bool is_unset = !config.contains(key) || config.at(key).is_null();
      if (is_unset && inner.contains(key) && !inner.at(key).is_null()) config[key] = inner.at(key);
    });
    break;
  }
  return config;
}

}  // namespace tril::model
