// A file that is being downloaded: the bytes so far, and their running checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hub/listing.h"

namespace tril::hub {

/// PATH.incomplete. It remains when the process ends, so that the next download to this path resumes. Bytes are written at
/// their offset: two processes that write one file at the same time write the same bytes to the same places.
class PartialFile {
 public:
  /// Opens it and computes the checksum of the bytes that an earlier process left.
  PartialFile(std::string path, const RemoteFile& file);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::uint64_t size() const { return size_; }
  void append(std::string_view bytes);
  /// Drops all bytes.
  void clear();
  /// The checksum of all bytes. After it, only commit() or clear() may be called.
  std::string sum() { return sum_.digits(); }
  /// Syncs it to disk and renames it to PATH.
  void commit();

 private:
  void sum_what_is_there();

  std::string path_, name_;
  RemoteFile file_;
  Checksum sum_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace tril::hub
