#include "grammar/schemas/schema_values.h"

#include <map>

#include "grammar/schemas/exact_number.h"

namespace tril::search {
std::string ValueSet::key_of(const Json& value) {
  if (value.is_number()) return ExactNumber(value).key();
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
