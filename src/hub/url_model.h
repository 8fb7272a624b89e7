// Downloads a model that is one file from a URL: an archive of OPUS-MT, an .argosmodel, a GGUF file.
//
// No list gives its size or checksum. So the size is HTTP's Content-Length, and a later try recognises the same file by its
// ETag (RFC 9110, If-Range). An archive must open before it gets its name, so a truncated one never does.
#pragma once

#include <optional>
#include <string>

#include "hub/pull.h"
#include "hub/settings.h"

namespace tril::hub {

/// Downloads it to DOWNLOADS/HOST/PATH, unless it is there.
/// @throws Error(usage) for a URL that is not HTTPS (or HTTP of this machine), has a query, or names no such file;
/// Error
Pulled pull_url(const HubSettings& settings, const std::string& url, const PullOptions& options);

/// Its path; nothing if it has not been downloaded.
std::optional<std::string> cached_url(const HubSettings& settings, const std::string& url);

}  // namespace tril::hub
