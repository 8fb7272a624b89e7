// A model in one file that is fetched from a URL: an archive of OPUS-MT, an .argosmodel, a GGUF file.
//
// No list gives its size or sum, so HTTP's are taken: Content-Length, and the ETag by which a later try knows that it
// goes on with the same file (RFC 9110, If-Range). An archive is opened before it gets its name: a truncated one is
// none.
#pragma once

#include <optional>
#include <string>

#include "hub/pull.h"
#include "hub/settings.h"

namespace tril::hub {

/// Fetches it to DOWNLOADS/HOST/PATH, unless it is there.
/// @throws Error(usage) for a URL that is not HTTPS (or HTTP of this machine), has a query, or names no such file;
/// Error
Pulled pull_url(const HubSettings& settings, const std::string& url, const PullOptions& options);

/// Where it is; nothing if it was not fetched.
std::optional<std::string> cached_url(const HubSettings& settings, const std::string& url);

}  // namespace tril::hub
