// A file that is being fetched: what has arrived so far, and the running sum of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hub/listing.h"

namespace tril::hub {

/// PATH.incomplete. It stays if the process ends, and the next one for the same path goes on with it. Bytes are
/// written at their offset, so that two processes, should they write the same file at once, write the same bytes.
class PartialFile {
 public:
  /// Opens it and sums what an earlier process left.
  PartialFile(std::string path, const RemoteFile& file);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  std::uint64_t size() const { return size_; }
  void append(std::string_view bytes);
  /// Forgets all bytes.
  void clear();
  /// The sum of all bytes. After it, only commit() or clear() may be called.
  std::string sum() { return sum_.digits(); }
  /// Syncs it and gives it its name.
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
