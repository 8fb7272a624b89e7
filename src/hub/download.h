// Downloads one file into the cache. Resumes an interrupted download, checks size and checksum, and names the file when it is
// complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>

#include "hub/cache.h"
#include "hub/http_client.h"
#include "hub/hub_error.h"
#include "hub/listing.h"

namespace tril::hub {

/// Byte counts shared by several downloads.
struct Meter {
  std::atomic<std::uint64_t> done{0};     ///< on disk: found there or downloaded
  std::atomic<std::uint64_t> fetched{0};  ///< downloaded by this process
};

/// Thrown by a download when it is stopped.
struct Stopped {};

/// The state that all downloads of one command share.
struct Surroundings {
  const HubSettings& settings;
  const RepoCache& cache;
  Meter& meter;
  std::stop_token stop;
};

/// Downloads the file's content into the cache under its checksum, unless it is there. Resumes a broken transfer, until
/// five consecutive attempts bring no data.
/// @throws Error after these attempts; Stopped
void download(HttpClient& client, const Surroundings& s, const RemoteFile& file, const std::string& url,
              const Asked& asked);

/// Waits before attempt number `tries`: the time of a Retry-After header, else twice as long as before the last
/// attempt.
/// @return false, without waiting, for more than two minutes: then the response is an error  @throws Stopped
bool wait_to_retry(const HttpAnswer& answer, int tries, const HubSettings& settings, const std::stop_token& stop);

}  // namespace tril::hub
