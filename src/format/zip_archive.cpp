#include "format/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/printable.h"
#include "format/byte_cursor.h"
#include "format/find_named.h"
#include "format/inflater.h"

namespace tril {
namespace {

constexpr std::uint32_t member_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::uint32_t in_zip64 = 0xffffffff;  // the value is in a 64-bit field instead
constexpr std::size_t end_bytes = 22, locator64_bytes = 20;
constexpr std::size_t most_comment = 0xffff;
constexpr std::size_t most_members = 1'000'000;
constexpr std::uint64_t most_expansion = 1032;  // of deflate: 258 bytes for two bits
// What a cursor reads, for its errors.
constexpr std::string_view in_directory = "the archive's directory", in_extra = "the extra fields of a member",
                           in_header = "the header of a member";
constexpr std::uint16_t encrypted_flag = 1, zip64_extra = 1;

// The place of the directory of members.
struct Directory {
  std::uint64_t offset = 0, bytes = 0, members = 0;
};

class DirectoryReader {
 public:
  DirectoryReader(std::span<const std::byte> file, const std::string& path)
      : file_(file), where_(printable(path, 400)) {}

  std::vector<ZipMember> read() {
    const Directory directory = find_directory();
    if (directory.members > most_members || directory.members > directory.bytes)
      refuse(fmt::format("its directory claims {} members", directory.members));
    ByteCursor fields = cursor(directory.offset, directory.bytes);
    std::vector<ZipMember> members;
    for (std::uint64_t i = 0; i < directory.members; ++i) members.push_back(read_member(fields));
    if (const ZipMember* const twice = sort_by_name(members))
      refuse(fmt::format("two of its members are called {}", printable(twice->name, 200)));
    check_apart(members);
    return members;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(where_, "the archive is damaged: " + why, "get it again");
  }

  // Members that share bytes would unpack to far more than the file holds.
  void check_apart(const std::vector<ZipMember>& members) const {
    std::vector<const ZipMember*> by_place;
    for (const ZipMember& m : members)
      if (!m.packed.empty()) by_place.push_back(&m);
    std::sort(by_place.begin(), by_place.end(),
              [](const ZipMember* a, const ZipMember* b) { return a->packed.data() < b->packed.data(); });
    for (std::size_t i = 1; i < by_place.size(); ++i)
      if (by_place[i - 1]->packed.data() + by_place[i - 1]->packed.size() > by_place[i]->packed.data())
        refuse(fmt::format("its members {} and {} overlap", printable(by_place[i - 1]->name, 200),
                           printable(by_place[i]->name, 200)));
  }

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > file_.size() || bytes > file_.size() - offset) refuse("a part of it is beyond the end of the file");
    return file_.subspan(offset, bytes);
  }

  ByteCursor cursor(std::uint64_t offset, std::uint64_t bytes) const { return {part(offset, bytes), where_, offset}; }

  std::uint32_t signature_at(std::uint64_t offset) const { return load_number<std::uint32_t>(part(offset, 4).data()); }

  // The end record of the directory is the last part of the file, except for a comment.
  Directory find_directory() const {
    if (file_.size() >= end_bytes)
      for (std::size_t comment = 0; comment <= most_comment && comment + end_bytes <= file_.size(); ++comment) {
        const std::size_t at = file_.size() - end_bytes - comment;
        if (signature_at(at) != end_signature) continue;
        ByteCursor fields = cursor(at + 4, end_bytes - 4);
        const auto disk = fields.number<std::uint16_t>(in_directory),
                   first_disk = fields.number<std::uint16_t>(in_directory);
        const auto here = fields.number<std::uint16_t>(in_directory),
                   members = fields.number<std::uint16_t>(in_directory);
        const auto bytes = fields.number<std::uint32_t>(in_directory),
                   offset = fields.number<std::uint32_t>(in_directory);
        if (fields.number<std::uint16_t>(in_directory) != comment) continue;  // a signature within the comment
        if (at >= locator64_bytes && signature_at(at - locator64_bytes) == locator64_signature)
          return directory64(at - locator64_bytes);
        if (disk != 0 || first_disk != 0 || here != members) refuse("it is one part of a larger archive");
        return {.offset = offset, .bytes = bytes, .members = members};
      }
    refuse("it has no directory at its end");
  }

  Directory directory64(std::uint64_t locator) const {
    const auto at = load_number<std::uint64_t>(part(locator + 8, 8).data());
    if (signature_at(at) != end64_signature) refuse("its directory is not at the offset that its end record gives");
    ByteCursor end = cursor(at, 56);
    end.take(16, in_directory);  // signature, its own size, versions
    if (end.number<std::uint32_t>(in_directory) != 0 || end.number<std::uint32_t>(in_directory) != 0)
      refuse("it is one part of a larger archive");
    Directory directory;
    end.number<std::uint64_t>(in_directory);
    directory.members = end.number<std::uint64_t>(in_directory);
    directory.bytes = end.number<std::uint64_t>(in_directory);
    directory.offset = end.number<std::uint64_t>(in_directory);
    return directory;
  }

  ZipMember read_member(ByteCursor& fields) const {
    if (fields.number<std::uint32_t>(in_directory) != entry_signature)
      refuse("its directory holds something other than members");
    ZipMember member;
    ZipHeader& header = member.header;
    header.made_by = fields.number<std::uint16_t>(in_directory);
    fields.take(2, in_directory);  // version needed
    header.flags = fields.number<std::uint16_t>(in_directory);
    member.method = fields.number<std::uint16_t>(in_directory);
    header.time = fields.number<std::uint32_t>(in_directory);
    member.checksum = fields.number<std::uint32_t>(in_directory);
    std::uint64_t packed = fields.number<std::uint32_t>(in_directory);
    member.size = fields.number<std::uint32_t>(in_directory);
    const auto name_bytes = fields.number<std::uint16_t>(in_directory),
               extra_bytes = fields.number<std::uint16_t>(in_directory),
               comment_bytes = fields.number<std::uint16_t>(in_directory);
    fields.take(2, in_directory);  // disk
    header.internal_attributes = fields.number<std::uint16_t>(in_directory);
    header.external_attributes = fields.number<std::uint32_t>(in_directory);
    std::uint64_t offset = fields.number<std::uint32_t>(in_directory);
    member.name = fields.characters(name_bytes, in_directory);
    ByteCursor extra = fields.part(extra_bytes, in_directory);
    header.extra = extra.rest();
    read_zip64(std::move(extra), {&member.size, &packed, &offset});
    header.comment = fields.take(comment_bytes, in_directory);
    const std::string where = fmt::format("{}: {}", where_, printable(member.name, 200));
    if (header.flags & encrypted_flag) fail(where, "is encrypted, which is not supported");
    if (member.method != 0 && member.method != 8)
      fail(where, fmt::format("is compressed by method {}, expected stored or deflated", member.method));
    std::tie(header.own_extra, member.packed) = content(offset, packed);
    if (member.is_stored() && member.size != packed) fail(where, "is stored uncompressed, but its two sizes differ");
    return member;
  }

  // The values that did not fit into 32 bits, in order.
  static void read_zip64(ByteCursor fields, std::initializer_list<std::uint64_t*> values) {
    while (fields.left() > 0) {
      const auto kind = fields.number<std::uint16_t>(in_extra);
      const auto size = fields.number<std::uint16_t>(in_extra);
      ByteCursor field = fields.part(size, in_extra);
      if (kind != zip64_extra) continue;
      for (std::uint64_t* value : values)
        if (*value == in_zip64) *value = field.number<std::uint64_t>(in_extra);
    }
  }

  // The extra fields of the member's own header, and the bytes after it; its lengths count, because the directory's may differ.
  std::pair<std::span<const std::byte>, std::span<const std::byte>> content(std::uint64_t offset,
                                                                            std::uint64_t bytes) const {
    ByteCursor header = cursor(offset, 30);
    if (header.number<std::uint32_t>(in_header) != member_signature)
      refuse("a member is not at the offset that the directory gives");
    header.take(22, in_header);
    const auto name_bytes = header.number<std::uint16_t>(in_header),
               extra_bytes = header.number<std::uint16_t>(in_header);
    const std::uint64_t extra = offset + 30 + name_bytes;
    return {part(extra, extra_bytes), part(extra + extra_bytes, bytes)};
  }

  std::span<const std::byte> file_;
  std::string where_;
};

// True if `packed` decompresses exactly to `out` and has no byte more.
bool inflate_whole(std::span<const std::byte> packed, std::string& out) {
  Inflater inflater(DeflateForm::raw);
  std::span<std::byte> rest = std::as_writable_bytes(std::span(out));
  for (;;) {
    const Inflater::Step step = inflater.step(packed, rest);
    packed = packed.subspan(step.read);
    rest = rest.subspan(step.written);
    if (step.state == Inflater::Step::end) return rest.empty();
    if (step.state == Inflater::Step::damaged || (step.read == 0 && step.written == 0)) return false;
  }
}

}  // namespace

ZipArchive::ZipArchive(std::string path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : path_(std::move(path)),
      bytes_(bytes.size()),
      owner_(std::move(owner)),
      members_(DirectoryReader(bytes, path_).read()) {}

ZipArchive::ZipArchive(MappedFile file) : path_(file.path()), bytes_(file.bytes().size()) {
  const auto kept = std::make_shared<const MappedFile>(std::move(file));
  members_ = DirectoryReader(kept->bytes(), path_).read();
  owner_ = kept;
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  return find_named(members_, name);
}

std::uint64_t ZipArchive::most_unpacked() const {
  constexpr std::uint64_t times = 64;
  return bytes_ > UINT64_MAX / times ? UINT64_MAX : bytes_ * times;
}

std::string ZipArchive::place_of(const ZipMember& member) const {
  return fmt::format("{}: {}", printable(path(), 400), printable(member.name, 200));
}

std::string ZipArchive::read(const ZipMember& member, std::uint64_t limit) const {
  if (member.size > limit) fail(place_of(member), fmt::format("has {} bytes, expected at most {}", member.size, limit));
  if (member.size / most_expansion > member.packed.size())
    fail(place_of(member), "is damaged: it claims more content than its bytes can hold", "get the archive again");
  std::string content(member.size, '\0');
  if (member.is_stored())
    std::copy_n(reinterpret_cast<const char*>(member.packed.data()), content.size(), content.data());
  else if (!inflate_whole(member.packed, content))
    fail(place_of(member), "is damaged: its content cannot be unpacked", "get the archive again");
  if (crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()) != member.checksum)
    fail(place_of(member), "is damaged: its checksum does not match its content", "get the archive again");
  return content;
}

bool leads_outside(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != name.npos || name.find('\0') != name.npos) return true;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

bool begins_as_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "PK\3\4", 4) == 0;
}

}  // namespace tril
