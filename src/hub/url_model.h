// Downloads a single-file model from a URL: an archive of OPUS-MT, an .argosmodel, a GGUF file.
//
// There is no listing with size and checksum. The size is HTTP's Content-Length; a later attempt recognises the same
// file by its ETag (RFC 9110, If-Range). An archive gets its name only if it opens, so a truncated one never gets it.
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

/// The path of its download; nothing if it was not downloaded.
std::optional<std::string> cached_url(const HubSettings& settings, const std::string& url);

}  // namespace tril::hub
