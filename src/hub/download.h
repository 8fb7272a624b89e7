// One file, fetched into the cache: resumed where an earlier try broke off, checked by size and sum, and put under
// its name when whole.
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

/// Counts of bytes that several downloads share.
struct Meter {
  std::atomic<std::uint64_t> done{0};     ///< on disk: found or fetched
  std::atomic<std::uint64_t> fetched{0};  ///< by this process
};

/// Thrown in a download that was stopped.
struct Stopped {};

/// What a download needs to know of its surroundings.
struct Surroundings {
  const HubSettings& settings;
  const RepoCache& cache;
  Meter& meter;
  std::stop_token stop;
};

/// Puts the file's content under its sum in the cache, if it is not there. A broken transfer is tried again, from
/// where it broke off, until five tries in a row bring nothing.
/// @throws Error for what stays wrong; Stopped
void download(HttpClient& client, const Surroundings& s, const RemoteFile& file, const std::string& url,
              const Asked& asked);

/// Waits before try number `tries`, as a Retry-After header says or twice as long as before it.
/// @return false if the wait would be longer than two minutes: then the answer is an error  @throws Stopped
bool wait_to_retry(const HttpAnswer& answer, int tries, const HubSettings& settings, const std::stop_token& stop);

}  // namespace tril::hub
