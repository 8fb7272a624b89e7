// A model loaded as `tril serve` serves it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/serving/serve_options.h"
#include "serve/engine/served_model.h"

namespace tril::cli {

enum class Weights : std::uint8_t { read, none };  ///< none: only what the model's profile needs (serve::profile_of)

/// @throws Error for a directory that cannot be served
serve::Loaded load_served(const ServeOptions& o, const std::string& name, const std::string& directory,
                          Weights weights);

/// Refuses a cache that is too small for any request. @throws Error(usage)
void check_cache(const serve::Loaded& l, const std::string& name, const ServeOptions& o);
/// Refuses languages given for a model on which they have no effect. @throws Error(usage)
void check_languages(const serve::Loaded& l, const std::string& name, const ServeOptions& o);

}  // namespace tril::cli
