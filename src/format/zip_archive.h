// Reads ZIP archives from a memory map. A directory at the end of the file lists the members, which are stored or deflated.
//
// Stored members, as PyTorch and NumPy write them, are used in place; archive libraries would copy them. Archives of more than
// 4 GiB (ZIP64) are supported. Refused are archives in several parts, encrypted members, other compression methods, and members
// that overlap. A member's name is never used as a path to write to. Source: PKWARE's APPNOTE 6.3.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tril {

/// What an archive says of a member beside its name and content, as APPNOTE 4.4 numbers and names it.
struct ZipHeader {
  std::uint16_t made_by = 20, flags = 0, internal_attributes = 0;
  std::uint32_t time = 0, external_attributes = 0;       ///< time and date as MS-DOS writes them
  std::span<const std::byte> extra, own_extra, comment;  ///< extra fields of the directory, and before the content
};

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;           ///< 0: stored, 8: deflated
  std::uint32_t checksum = 0;         ///< CRC-32 of the content
  std::uint64_t size = 0;             ///< bytes of the content
  std::span<const std::byte> packed;  ///< the content as stored in the file
  ZipHeader header = {};

  bool is_stored() const { return method == 0; }
};

class ZipArchive {
 public:
  /// Maps the file and reads its directory. @throws Error if the file is damaged or has unsupported members
  static ZipArchive open(const std::string& path) { return ZipArchive(MappedFile::open(path)); }
  explicit ZipArchive(MappedFile file);
  /// An archive in memory, such as a member of another. @param path  its name in errors  @param owner  keeps `bytes` alive
  ZipArchive(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }  ///< of the archive itself
  /// The most bytes to which an archive of numbers may unpack: 64 times its size. Weights compress far less than that.
  std::uint64_t most_unpacked() const;
  const std::vector<ZipMember>& members() const { return members_; }  ///< sorted by name
  const ZipMember* find(std::string_view name) const;                 ///< null if there is none

  /// The content, checked against its checksum.
  /// @param limit  in bytes; a larger member is an Error
  std::string read(const ZipMember& member, std::uint64_t limit) const;

 private:
  std::string place_of(const ZipMember& member) const;

  std::string path_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<const void> owner_;
  std::vector<ZipMember> members_;
};

/// True if a member's name is a path that leads out of the archive: "/etc/passwd", "../x".
bool leads_outside(std::string_view member_name);

/// True if the bytes begin like a ZIP archive.
bool begins_as_zip(std::span<const std::byte> bytes);

}  // namespace tril
