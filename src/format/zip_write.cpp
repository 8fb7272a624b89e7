#include "format/zip_write.h"

#include <zlib.h>

#include <limits>
#include <new>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"

namespace tril {
namespace {

constexpr std::uint16_t utf8_name = 1 << 11, data_descriptor = 1 << 3, zip64_field = 1, version_needed = 20;

// The bytes of a number, little endian as byte_cursor.h requires of the machine.
template <class T>
std::string zip_field(std::uint64_t number) {
  const auto value = static_cast<T>(number);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string field16(std::uint64_t number) {
  return zip_field<std::uint16_t>(number);
}
std::string field32(std::uint64_t number) {
  return zip_field<std::uint32_t>(number);
}
std::string_view as_characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The extra fields without those of ZIP64: the archive has no sizes that need them. A field that is cut ends them.
std::string without_zip64(std::span<const std::byte> fields) {
  std::string kept;
  while (fields.size() >= 4) {
    const auto kind = load_number<std::uint16_t>(fields.data());
    const std::size_t size = std::size_t{4} + load_number<std::uint16_t>(fields.data() + 2);
    if (size > fields.size()) break;
    if (kind != zip64_field) kept += as_characters(fields.first(size));
    fields = fields.subspan(size);
  }
  return kept;
}

std::string deflated(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
  std::string packed(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);  // the bound holds: one step ends the stream
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

void ZipWriter::add(const ZipMember& member, std::uint16_t flags) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const ZipHeader& header = member.header;
  if (member.size >= most || member.packed.size() >= most || archive_.size() >= most) {
    too_large_ = true;
    return;
  }
  const std::string common = field16(flags) + field16(member.method) + field32(header.time) + field32(member.checksum) +
                             field32(member.packed.size()) + field32(member.size) + field16(member.name.size());
  const std::string extra = without_zip64(header.extra), own_extra = without_zip64(header.own_extra);
  directory_ += "PK\1\2" + field16(header.made_by) + field16(version_needed) + common + field16(extra.size()) +
                field16(header.comment.size()) + field16(0) + field16(header.internal_attributes) +
                field32(header.external_attributes) + field32(archive_.size());
  directory_.append(member.name).append(extra).append(as_characters(header.comment));
  archive_ += "PK\3\4" + field16(version_needed) + common + field16(own_extra.size());
  archive_.append(member.name).append(own_extra).append(as_characters(member.packed));
  ++members_;
}

void ZipWriter::copy(const ZipMember& member) {
  add(member, static_cast<std::uint16_t>(member.header.flags & ~data_descriptor));
}

void ZipWriter::replace(const ZipMember& member, std::string_view content) {
  ZipMember written = member;
  written.size = content.size();
  if (written.size >= std::numeric_limits<std::uint32_t>::max())
    return add(written, 0);  // too large, however it is packed
  written.checksum =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const std::string packed = member.is_stored() ? std::string(content) : deflated(content);
  written.packed = std::as_bytes(std::span(packed.data(), packed.size()));
  add(written, member.header.flags & utf8_name);
}

std::string ZipWriter::finish(const std::string& where) {
  if (too_large_ || members_ > most_written_members ||
      archive_.size() + directory_.size() >= std::numeric_limits<std::uint32_t>::max())
    fail(printable(where, 400), "its translation would be an archive of 4 GiB or more, or of 65,535 members",
         "divide the document");
  const std::uint64_t at = archive_.size();
  archive_ += directory_;
  return std::move(archive_) + "PK\5\6" + field32(0) + field16(members_) + field16(members_) +
         field32(directory_.size()) + field32(at) + field16(0);
}

}  // namespace tril
