// Sets of values under JSON schema's equality (1 equals 1.0, the order of an object's keys is ignored): `enum` may list
// thousands, each of which is looked up among thousands.
#pragma once

#include <string>
#include <unordered_set>

#include "grammar/schemas/schema_words.h"

namespace tril::search {

class ValueSet {
 public:
  ValueSet() = default;
  /// @param values  an array
  template <class List>
  explicit ValueSet(const List& values) {
    for (const Json& value : values) add(value);
  }

  /// @return whether it was new
  bool add(const Json& value) { return keys_.insert(key_of(value)).second; }
  bool contains(const Json& value) const { return keys_.contains(key_of(value)); }

 private:
  /// A text that equal values share and others do not.
  static std::string key_of(const Json& value);

  std::unordered_set<std::string> keys_;
};

}  // namespace tril::search
