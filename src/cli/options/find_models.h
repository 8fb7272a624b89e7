// Options that name models: a path that exists is taken as it is; any other name is looked for in the cache of
// downloads, and fetched if the user says so.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace tril::cli {

struct FindOptions {
  bool pull = false;   ///< fetch without asking
  bool quiet = false;  ///< no progress line
};

/// Replaces the values of these fields by paths, where they are names on a hub or URLs. A value of "[NAME=]DIR" keeps
/// its name, or gets the hub's.
/// @throws Error for a model that is neither a path nor in the cache, and is not fetched
void find_models(Fields& fields, const std::vector<std::string>& names, const FindOptions& options);

/// What a model is called that a path leads to: the last component, or the hub's name for a model in its cache.
std::string name_of_model(const std::string& path);

}  // namespace tril::cli
