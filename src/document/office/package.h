// Documents that are ZIP archives of files: office documents and books. Some members are documents themselves; the
// others are copied as compressed bytes, in their order and with their times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "document/segments/document.h"
#include "format/zip_archive.h"

namespace tril::document {

/// Maximum total unpacked size of the members that are read.
inline constexpr std::uint64_t most_unpacked_bytes = std::uint64_t{256} << 20;
/// A member of more than a mebibyte may be this many times as large as its packed bytes. Members with text are about 10
/// times as large.
inline constexpr std::uint64_t most_unpacked_times = 200;
/// Total unpacked size of the members without text that are checked. A sheet of 16 MiB takes about 200 MiB to check.
inline constexpr std::uint64_t most_checked_bytes = std::uint64_t{16} << 20;

/// An archive whose members are read within limits.
class Package {
 public:
  /// @param where  names the file in errors
  /// @throws Error if it is not a ZIP archive, is encrypted, is a document of Office 97 to 2003, or a member's name
  /// leads out of it
  Package(std::string bytes, const std::string& where);

  const std::string& bytes() const { return *bytes_; }
  const std::string& where() const { return where_; }
  const ZipArchive& archive() const { return archive_; }
  /// In the order of the file.
  const std::vector<const ZipMember*>& members() const { return members_; }
  bool has(std::string_view name) const { return archive_.find(name) != nullptr; }

  /// The content of a member. @throws Error if it is damaged, or the members read so far are too large
  std::string read(const ZipMember& member);
  /// @throws Error if there is none of this name
  std::string read(std::string_view name);
  /// Checks an XML member that is copied, unless it is too large for what is left of most_checked_bytes.
  /// @throws Error if it is damaged or not well-formed
  void check_xml(const ZipMember& member);
  /// "letter.docx: word/document.xml"
  std::string place_of(std::string_view name) const;
  /// @throws Error that says that a translation would make a signature invalid
  [[noreturn]] void refuse_signature() const;
  [[noreturn]] void refuse_encryption() const;

 private:
  std::shared_ptr<const std::string> bytes_;
  std::string where_;
  ZipArchive archive_;
  std::vector<const ZipMember*> members_;
  std::uint64_t unpacked_ = 0, checked_ = 0;
};

class PackageDocument final : public Document {
 public:
  explicit PackageDocument(Package package) : package_(std::move(package)) {}

  Package& package() { return package_; }
  /// A member that is a document. Its segments follow those of the members before it.
  void add(const ZipMember& member, std::unique_ptr<Document> document);
  std::string write(std::span<const Segment> translated) const override;

 private:
  struct Part {
    const ZipMember* member;
    std::unique_ptr<Document> document;
    std::size_t first;  ///< of its segments
  };

  Package package_;
  std::vector<Part> parts_;
};

}  // namespace tril::document
