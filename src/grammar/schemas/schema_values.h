// Values as they equal each other in JSON schema, 1 and 1.0, and objects in any order, as members of sets: `enum` may list
// thousands, each of which is looked for among thousands.
#pragma once

#include <string>
#include <unordered_set>

#include "grammar/schemas/schema_words.h"

namespace tril::search {

class ValueSet {
 public:
  ValueSet() = default;
  /// @param values  in an array
  template <class List>
  explicit ValueSet(const List& values) {
    for (const Json& value : values) add(value);
  }

  /// Whether it was not there before.
  bool add(const Json& value) { return keys_.insert(key_of(value)).second; }
  bool contains(const Json& value) const { return keys_.contains(key_of(value)); }

 private:
  /// A text that equal values share, and no others.
  static std::string key_of(const Json& value);

  std::unordered_set<std::string> keys_;
};

}  // namespace tril::search
