// Small models' config.json files as values of parametrised tests, so that CTest names each.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace tril::testing {

/// A configuration and its name: the family, and from its second one on a number: "llama", "llama_2".
struct NamedConfig {
  std::string name;
  nlohmann::json config;
};

inline void PrintTo(const NamedConfig& c, std::ostream* out) {
  *out << c.name;
}

/// The family of a config.json.
inline std::string family_of(const nlohmann::json& config) {
  return config.value("architecture", config.at("model_type").get<std::string>());
}

inline std::vector<NamedConfig> named_configs(const std::vector<nlohmann::json>& configs) {
  std::vector<NamedConfig> named;
  std::map<std::string, int> seen;
  for (const nlohmann::json& config : configs) {
    std::string name = family_of(config);
    if (const int number = ++seen[name]; number > 1) name += "_" + std::to_string(number);
    for (char& c : name)
      if (c == '-') c = '_';  // a test's name has letters, digits and underscores
    named.push_back({std::move(name), config});
  }
  return named;
}

/// The name of a test's parameter.
inline std::string config_name(const ::testing::TestParamInfo<NamedConfig>& info) {
  return info.param.name;
}

}  // namespace tril::testing
