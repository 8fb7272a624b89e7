// The objects of a box as a plan: properties by name, in the order in which schemas list them, then other properties by
// classes of names.
//
// A class has the names that exactly the same `patternProperties` expressions of all scopes match and no scope lists:
// that decides what such a property must be. Names of one class may repeat; if minProperties needs several different
// ones, they differ in length.
#pragma once

#include <string>
#include <vector>

#include "grammar/schemas/schema_boxes.h"
#include "grammar/schemas/schema_strings.h"

namespace tril::search {

struct ObjectPlan {
  struct Member {
    std::string name;
    Conjunction value;
    bool required;
  };
  struct Extra {
    Pattern names;
    Conjunction value;
  };
  std::vector<Member> members;
  std::vector<Extra> extras;
  /// If more than one extra is needed: the names of the first, the second, ... are disjoint.
  std::vector<std::vector<Extra>> distinct;
  std::int64_t least = 0, most = -1;
};

/// Every object of the box follows one of the plans; there are several if one of some properties must satisfy a schema.
/// @throws Unsupported naming the place and what is not supported
std::vector<ObjectPlan> object_plans(const Box& box, SchemaId at, SchemaBoxes& boxes, SchemaPatterns& patterns);

}  // namespace tril::search
