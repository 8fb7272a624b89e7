// Hugging Face's cache of models on disk, as huggingface_hub lays it out (file_download.py), so that Python and tril
// share it:
//
//   CACHE/models--OWNER--NAME/blobs/SUM                  the contents, by their sums
//                            /blobs/SUM.incomplete       one that is being fetched
//                            /snapshots/COMMIT/NAME      -> ../../blobs/SUM
//                            /refs/REVISION              the commit that the revision was when it was last asked for
//   CACHE/.locks/models--OWNER--NAME/SUM.lock            held (flock) by whoever writes the blob
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hub/listing.h"
#include "hub/repo_name.h"

namespace tril::hub {

class RepoCache {
 public:
  RepoCache(std::string cache, const std::string& repo);

  const std::string& directory() const { return directory_; }
  std::string blob(const RemoteFile& file) const { return directory_ + "/blobs/" + file.sum; }
  std::string lock(const RemoteFile& file) const { return locks_ + "/" + file.sum + ".lock"; }
  std::string snapshot(const std::string& commit) const { return directory_ + "/snapshots/" + commit; }
  /// Whether the blob is there with its size.
  bool has(const RemoteFile& file) const;

  /// The commit of a revision as it was last asked for; nothing if it is not known here.
  std::optional<std::string> commit_of(const std::string& revision) const;

  void make_directories() const;
  /// Links the file's name in the snapshot to its blob, whatever was there.
  void link(const std::string& commit, const RemoteFile& file) const;
  void set_commit(const std::string& revision, const std::string& commit) const;

 private:
  std::string directory_, locks_;
};

/// The names of the files of a snapshot whose contents are there, below it too.
std::vector<std::string> names_in(const std::string& snapshot);

/// The repository whose snapshot a path leads to, or a file in it: ".../models--a--b/snapshots/COMMIT" -> "a/b";
/// nothing for another path.
std::optional<std::string> repo_of_snapshot(const std::string& path);

/// A lock as huggingface_hub's WeakFileLock takes it: flock() on a file that stays. Waits for its holder. Where the
/// file system has no such locks, nothing is locked: two processes then write the same bytes to the same places, and
/// sums are checked in any case.
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
