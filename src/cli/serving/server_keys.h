// The keys that requests to the server need.
#pragma once

#include "cli/serving/serve_options.h"

namespace tril::cli {

/// The keys of --api-key-file, --admin-key-file and TRIL_API_KEY. @throws Error for a file without a key, or a short key
serve::Keys keys_of(const ServeOptions& o);

}  // namespace tril::cli
