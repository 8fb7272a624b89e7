// Writes ZIP archives in memory, as a copy of another one in which the content of some members is new.
//
// The same members give the same bytes: times and attributes are those of the source, and zlib's level is fixed. Sizes stand in
// front of the content, not behind it (no data descriptors), because readers of EPUB and OpenDocument expect that.
// Source: PKWARE's APPNOTE 6.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/zip_archive.h"

namespace tril {

/// Maximum number of members that an archive without ZIP64 can have.
inline constexpr std::size_t most_written_members = 65'534;

class ZipWriter {
 public:
  /// Adds a member as it is, without unpacking it.
  void copy(const ZipMember& member);
  /// Adds a member with new content; everything else is that of `member`. Deflated, unless `member` is stored.
  /// @throws std::bad_alloc
  void replace(const ZipMember& member, std::string_view content);
  /// The archive. No member can be added later.
  /// @throws Error if it would need ZIP64: 4 GiB, or more than most_written_members
  std::string finish(const std::string& where);

 private:
  void add(const ZipMember& member, std::uint16_t flags);

  std::string archive_, directory_;
  std::uint64_t members_ = 0;
  bool too_large_ = false;
};

}  // namespace tril
