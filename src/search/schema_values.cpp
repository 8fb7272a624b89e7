#include "search/schema_values.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace tril::search {
namespace {

std::string number_key(const Json& value) {
  constexpr double beyond = 9.2e18;  // what 64 bits hold
  const double x = value.get<double>();
  if (std::abs(x) >= beyond) return fmt::format("{}", x);
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  return std::floor(x) == x ? fmt::format("{}", static_cast<std::int64_t>(x)) : fmt::format("{}", x);
}

}  // namespace

std::string ValueSet::key_of(const Json& value) {
  if (value.is_number()) return number_key(value);
  if (value.is_array()) {
    std::string key = "[";
    for (const Json& item : value) key += key_of(item) + ',';
    return key + ']';
  }
  if (!value.is_object()) return value.dump();
  std::map<std::string, std::string> members;
  for (const auto& [name, member] : value.items()) members[Json(name).dump()] = key_of(member);
  std::string key = "{";
  for (const auto& [name, member] : members) key += name + ':' + member + ',';
  return key + '}';
}

}  // namespace tril::search
