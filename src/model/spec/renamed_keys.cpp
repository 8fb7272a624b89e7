#include "model/spec/renamed_keys.h"

#include <fmt/format.h>

namespace tril::model {

RenamedConfig rename_keys(const JsonObject& config, std::span<const std::pair<const char*, const char*>> keys) {
  RenamedConfig r{.json = config.json(), .names = {}};
  for (const auto& [from, to] : keys) {
    const auto at = r.json.find(from);
    if (at == r.json.end()) continue;
    if (r.json.contains(to) && r.json[to] != *at) config.fail_at(from, fmt::format("differs from {}", to));
    r.json[to] = *at, r.names[to] = from;
    r.json.erase(from);
  }
  return r;
}

}  // namespace tril::model
