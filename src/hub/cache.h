// Hugging Face's cache of models on disk. The layout is that of huggingface_hub (file_download.py), so that Python and
// tril share it:
//
//   CACHE/models--OWNER--NAME/blobs/SUM                  the contents, by their checksums
//                            /blobs/SUM.incomplete       one that is being downloaded
//                            /snapshots/COMMIT/NAME      -> ../../blobs/SUM
//                            /refs/REVISION              the commit that the revision had when it was last looked up
//   CACHE/.locks/models--OWNER--NAME/SUM.lock            locked (flock) by the process that writes the blob
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hub/listing.h"
#include "hub/repo_name.h"

namespace tril::hub {

class RepoCache {
 public:
  RepoCache(const std::string& cache, const std::string& repo);

  const std::string& directory() const { return directory_; }
  std::string blob(const RemoteFile& file) const { return directory_ + "/blobs/" + file.sum; }
  std::string lock(const RemoteFile& file) const { return locks_ + "/" + file.sum + ".lock"; }
  std::string snapshot(const std::string& commit) const { return directory_ + "/snapshots/" + commit; }
  /// True if the blob exists and has the right size.
  bool has(const RemoteFile& file) const;

  /// The commit that a revision had when it was last looked up; nothing if it never was.
  std::optional<std::string> commit_of(const std::string& revision) const;

  void make_directories() const;
  /// Links the file's name in the snapshot to its blob, replacing an existing entry.
  void link(const std::string& commit, const RemoteFile& file) const;
  void set_commit(const std::string& revision, const std::string& commit) const;

 private:
  std::string directory_, locks_;
};

/// The names of all files in a snapshot, including subdirectories, whose blobs exist.
std::vector<std::string> names_in(const std::string& snapshot);

/// The repository of a snapshot's path or of a file in it: ".../models--a--b/snapshots/COMMIT" -> "a/b"; nothing for another
/// path.
std::optional<std::string> repo_of_snapshot(const std::string& path);

/// The same lock as huggingface_hub's WeakFileLock: flock() on a file that is not removed. Waits while another process holds
/// it. On a file system without such locks nothing is locked: two processes then write the same bytes to the same places, and
/// checksums are checked in any case.
class BlobLock {
 public:
  explicit BlobLock(const std::string& path);
  ~BlobLock();
  BlobLock(const BlobLock&) = delete;
  BlobLock& operator=(const BlobLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace tril::hub
