// Downloads a model by its name into the cache: listing, plan, transfers, links. If it is killed at any time, the next call
// resumes. A blob gets its name, the checksum, when it is complete. Links are made when all blobs are complete, that of
// config.json last; then the revision is stored.
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
  std::uint64_t bytes = 0;    ///< of all files; shared contents count once
  std::uint64_t fetched = 0;  ///< of these, bytes downloaded now
};

struct PullProgress {
  std::uint64_t done = 0,
                total =
                    0;  ///< bytes of the files that were not in the cache; done includes what an earlier attempt left
  std::uint64_t fetched = 0;  ///< bytes downloaded now
};

struct PullOptions {
  int connections = 4;  ///< files to download at once
  /// Called several times a second during the transfer.
  std::function<void(const PullProgress&)> progress;
};

/// Downloads the model of this name into the cache, in the hub's current version.
/// @throws Error with a remedy: no such model, a gated model, no connection, a full disk, a wrong checksum
Pulled pull(const HubSettings& settings, const RepoName& name, const PullOptions& options);

/// The path of the model of this name in the cache, without a request to the hub; nothing if it is missing or incomplete.
std::optional<std::string> cached_model(const HubSettings& settings, const RepoName& name);

}  // namespace tril::hub
