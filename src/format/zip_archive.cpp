#include "format/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"
#include "format/find_named.h"
#include "format/inflater.h"

namespace tril {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are used as they are stored");

constexpr std::uint32_t member_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::uint32_t in_zip64 = 0xffffffff;  // the value is in a 64-bit field instead
constexpr std::size_t end_bytes = 22, locator64_bytes = 20;
constexpr std::size_t most_comment = 0xffff;
constexpr std::size_t most_members = 1'000'000;
constexpr std::uint64_t most_expansion = 1032;  // of deflate: 258 bytes for two bits
constexpr std::uint16_t encrypted_flag = 1, zip64_extra = 1;

// Reads consecutive numbers from a range of a file.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size()) fail(where_, "the archive is damaged: its directory ends too early", "get it again");
    const std::span<const std::byte> taken = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  const std::string& where_;
};

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
    Fields fields(part(directory.offset, directory.bytes), where_);
    std::vector<ZipMember> members;
    for (std::uint64_t i = 0; i < directory.members; ++i) members.push_back(read_member(fields));
    std::sort(members.begin(), members.end(), [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < members.size(); ++i)
      if (members[i].name == members[i - 1].name)
        refuse(fmt::format("two of its members are called {}", printable(members[i].name, 200)));
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
    if (offset > file_.size() || bytes > file_.size() - offset) refuse("a part of it lies beyond its end");
    return file_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
  }

  std::uint32_t signature_at(std::uint64_t offset) const {
    return Fields(part(offset, 4), where_).take<std::uint32_t>();
  }

  // The end record of the directory is the last part of the file, except for a comment.
  Directory find_directory() const {
    if (file_.size() >= end_bytes)
      for (std::size_t comment = 0; comment <= most_comment && comment + end_bytes <= file_.size(); ++comment) {
        const std::size_t at = file_.size() - end_bytes - comment;
        if (signature_at(at) != end_signature) continue;
        Fields fields(part(at + 4, end_bytes - 4), where_);
        const auto disk = fields.take<std::uint16_t>(), first_disk = fields.take<std::uint16_t>();
        const auto here = fields.take<std::uint16_t>(), members = fields.take<std::uint16_t>();
        const auto bytes = fields.take<std::uint32_t>(), offset = fields.take<std::uint32_t>();
        if (fields.take<std::uint16_t>() != comment) continue;  // a signature within the comment
        if (at >= locator64_bytes && signature_at(at - locator64_bytes) == locator64_signature)
          return directory64(at - locator64_bytes);
        if (disk != 0 || first_disk != 0 || here != members) refuse("it is one part of several");
        return {.offset = offset, .bytes = bytes, .members = members};
      }
    refuse("it has no directory at its end");
  }

  Directory directory64(std::uint64_t locator) const {
    Fields fields(part(locator + 8, 8), where_);
    const auto at = fields.take<std::uint64_t>();
    if (signature_at(at) != end64_signature) refuse("its directory is not where it says");
    Fields end(part(at, 56), where_);
    end.take(16);  // signature, its own size, versions
    if (end.take<std::uint32_t>() != 0 || end.take<std::uint32_t>() != 0) refuse("it is one part of several");
    Directory directory;
    end.take<std::uint64_t>();
    directory.members = end.take<std::uint64_t>();
    directory.bytes = end.take<std::uint64_t>();
    directory.offset = end.take<std::uint64_t>();
    return directory;
  }

  ZipMember read_member(Fields& fields) const {
    if (fields.take<std::uint32_t>() != entry_signature) refuse("its directory holds something else");
    ZipMember member;
    fields.take(4);  // versions
    const auto flags = fields.take<std::uint16_t>();
    member.method = fields.take<std::uint16_t>();
    fields.take(4);  // time
    member.checksum = fields.take<std::uint32_t>();
    std::uint64_t packed = fields.take<std::uint32_t>();
    member.size = fields.take<std::uint32_t>();
    const auto name_bytes = fields.take<std::uint16_t>(), extra_bytes = fields.take<std::uint16_t>(),
               comment_bytes = fields.take<std::uint16_t>();
    fields.take(8);  // disk, attributes
    std::uint64_t offset = fields.take<std::uint32_t>();
    const auto name = fields.take(name_bytes);
    member.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    read_zip64(fields.take(extra_bytes), {&member.size, &packed, &offset});
    fields.take(comment_bytes);
    const std::string where = fmt::format("{}: {}", where_, printable(member.name, 200));
    if (flags & encrypted_flag) fail(where, "is encrypted, which is not read");
    if (member.method != 0 && member.method != 8)
      fail(where, fmt::format("is compressed by method {}, expected stored or deflated", member.method));
    member.packed = content(offset, packed);
    if (member.is_stored() && member.size != packed) fail(where, "is stored, and its two sizes differ");
    return member;
  }

  // The values that did not fit into 32 bits, in order.
  void read_zip64(std::span<const std::byte> extra, std::initializer_list<std::uint64_t*> values) const {
    Fields fields(extra, where_);
    while (!fields.empty()) {
      const auto kind = fields.take<std::uint16_t>();
      const auto size = fields.take<std::uint16_t>();
      Fields field(fields.take(size), where_);
      if (kind != zip64_extra) continue;
      for (std::uint64_t* value : values)
        if (*value == in_zip64) *value = field.take<std::uint64_t>();
    }
  }

  // The bytes after the member's own header; its lengths count, because the directory's may differ.
  std::span<const std::byte> content(std::uint64_t offset, std::uint64_t bytes) const {
    Fields header(part(offset, 30), where_);
    if (header.take<std::uint32_t>() != member_signature) refuse("a member is not where its directory says");
    header.take(22);
    const auto name_bytes = header.take<std::uint16_t>(), extra_bytes = header.take<std::uint16_t>();
    return part(offset + 30 + name_bytes + extra_bytes, bytes);
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
  std::string content(static_cast<std::size_t>(member.size), '\0');
  if (member.is_stored())
    std::copy_n(reinterpret_cast<const char*>(member.packed.data()), content.size(), content.data());
  else if (!inflate_whole(member.packed, content))
    fail(place_of(member), "is damaged: its content cannot be unpacked", "get the archive again");
  if (crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()) != member.checksum)
    fail(place_of(member), "is damaged: its checksum is another", "get the archive again");
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
