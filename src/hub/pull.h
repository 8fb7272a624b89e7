// A model fetched by its name into the cache: listing, plan, transfers, links. Killed at any time, it leaves a cache
// from which the next call goes on: contents appear under their sums when whole, links when all contents are there,
// config.json's last, then the revision.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hub/listing.h"
#include "hub/repo_name.h"
#include "hub/settings.h"

namespace tril::hub {

struct PulledFile {
  RemoteFile file;
  bool was_there = false;  ///< in the cache already
};

struct Pulled {
  std::string path;    ///< of the model: a directory, or a file
  std::string commit;  ///< of the repository
  std::vector<PulledFile> files;
  std::uint64_t bytes = 0;    ///< of the files, a content that several share once
  std::uint64_t fetched = 0;  ///< of them now
};

struct PullProgress {
  std::uint64_t done = 0,
                total = 0;    ///< bytes of the files that were not in the cache; done: what an earlier try left too
  std::uint64_t fetched = 0;  ///< bytes that came now
};

struct PullOptions {
  int connections = 4;  ///< files that are fetched at once
  /// Called several times a second while files arrive.
  std::function<void(const PullProgress&)> progress;
};

/// Brings the model of that name into the cache, as the hub has it now.
/// @throws Error that says what to do: no such model, a gated one, no connection, a full disk, a wrong sum
Pulled pull(const HubSettings& settings, const RepoName& name, const PullOptions& options);

/// The path of the model of that name in the cache, without asking anybody; nothing if it is not there, or not whole.
std::optional<std::string> cached_model(const HubSettings& settings, const RepoName& name);

}  // namespace tril::hub
