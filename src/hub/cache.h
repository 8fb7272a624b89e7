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
  RepoCache(std::string cache, const std::string& repo);

  const std::string& directory() const { return directory_; }
  std::string blob(const RemoteFile& file) const { return directory_ + "/blobs/" + file.sum; }
  std::string lock(const RemoteFile& file) const { return locks_ + "/" + file.sum + ".lock"; }
  std::string snapshot(const std::string& commit) const { return directory_ + "/snapshots/" + commit; }
  /// Whether the blob exists and has its size.
  bool has(const RemoteFile& file) const;

  /// The commit that a revision had when it was last looked up; nothing if it never was.
  std::optional<std::string> commit_of(const std::string& revision) const;

  void make_directories() const;
  /// Links the file's name in the snapshot to its blob, replacing whatever was there.
  void link(const std::string& commit, const RemoteFile& file) const;
  void set_commit(const std::string& revision, const std::string& commit) const;

 private:
  std::string directory_, locks_;
};

/// The names of all files in a snapshot whose contents exist, those in subdirectories included.
std::vector<std::string> names_in(const std::string& snapshot);

/// The repository whose snapshot a path leads to, or a file in it: ".../models--a--b/snapshots/COMMIT" -> "a/b";
/// nothing for another path.
std::optional<std::string> repo_of_snapshot(const std::string& path);

/// The same lock as huggingface_hub's WeakFileLock: flock() on a file that stays. Waits while another process holds it. If
/// the file system has no such locks, nothing is locked. Two processes then write the same bytes to the same places, and
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
