// Options that name models. A path that exists is used as it is. Any other name is looked up in the cache of downloads, and
// downloaded if the user agrees.
#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

namespace tril::cli {

struct FindOptions {
  bool pull = false;   ///< download without asking
  bool quiet = false;  ///< no progress line
};

/// Replaces values of these fields that are names on a hub, or URLs, by paths. In a value such as NAME=DIR only DIR is
/// replaced. A field whose values have the form "[NAME=]DIR" gets the hub's name if it has none.
/// @throws Error for a model that is neither a path nor in the cache, and is not downloaded
void find_models(Fields& fields, const std::vector<std::string>& names, const FindOptions& options);

/// The name of the model at a path: the hub's name if it lies in the cache, else the last component.
std::string name_of_model(const std::string& path);

}  // namespace tril::cli
