// Downloads one file into the cache. It resumes where an earlier try broke off, checks size and checksum, and gives the
// file its name when it is complete.
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

/// Thrown in a download that was stopped.
struct Stopped {};

/// What all downloads of one command share.
struct Surroundings {
  const HubSettings& settings;
  const RepoCache& cache;
  Meter& meter;
  std::stop_token stop;
};

/// Puts the file's content into the cache under its checksum, unless it is there. A broken transfer is resumed where it
/// broke off, until five tries in a row bring no data.
/// @throws Error if that does not help; Stopped
void download(HttpClient& client, const Surroundings& s, const RemoteFile& file, const std::string& url,
              const Asked& asked);

/// Waits before try number `tries`: as long as a Retry-After header says, else twice as long as before the last try.
/// @return false, without waiting, if that is longer than two minutes: then the answer is an error  @throws Stopped
bool wait_to_retry(const HttpAnswer& answer, int tries, const HubSettings& settings, const std::stop_token& stop);

}  // namespace tril::hub
