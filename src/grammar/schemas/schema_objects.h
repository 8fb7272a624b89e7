// The objects of a box as a plan: properties by name, in the order in which schemas list them, then others by classes of names.
//
// A class is the names that the same expressions of `patternProperties` match, of all scopes, and that no scope lists: what such a
// property must be is then known. Names of one class may repeat; where so many different ones are needed that it matters, they
// are told apart by their length.
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
  /// Where more than one extra is needed: those of the first, the second, ... have no name in common.
  std::vector<std::vector<Extra>> distinct;
  std::int64_t least = 0, most = -1;
};

/// Plans of which each object of the box follows one; several where some property or another must be of some kind.
/// @throws Unsupported naming the place and what is not supported
std::vector<ObjectPlan> object_plans(const Box& box, SchemaId at, SchemaBoxes& boxes, SchemaPatterns& patterns);

}  // namespace tril::search
