// From what a user calls a model to its path. A path that exists is used as it is. Any other name is looked up in the cache of
// downloads, and downloaded if the caller agrees.
#pragma once

#include <functional>
#include <string>

#include "hub/pull.h"

namespace tril::hub {

/// What happens with a model that is not in the cache.
struct FindOptions {
  bool pull = false;  ///< download it without asking
  /// Otherwise asks whether to download it; empty: no.
  std::function<bool(const std::string& question)> agrees = {};
  /// Called when a download of `name` begins; returns PullOptions::progress. May be empty.
  std::function<std::function<void(const PullProgress&)>(const std::string& name)> show = {};
  std::string remedy = {};  ///< how the caller's user has it downloaded, for an error: "pass `pull`"
};

/// The path of a model. A text that is neither a path nor a name on a hub nor a URL is returned as it is.
/// @throws Error for a model that is neither a path nor in the cache, and is not downloaded; see pull() and pull_url()
std::string find_model(const std::string& text, const FindOptions& options);

}  // namespace tril::hub
