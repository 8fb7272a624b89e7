#include "document/office/package.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "document/xml/xml_nodes.h"
#include "format/zip_write.h"

namespace tril::document {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Office 97 to 2003, and encrypted files of later Office, are compound files (MS-CFB 2.2).
void check_kind(const std::string& bytes, const std::string& where) {
  if (begins_as_zip(bytes_of(bytes))) return;
  if (!bytes.starts_with("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
    fail(printable(where, 400), "is not a ZIP archive, as such documents must be",
         "check that its name is right and that it is complete");
  const std::string_view name = "EncryptedPackage";
  std::string wide;  // UTF-16
  for (const char c : name) wide += c, wide += '\0';
  if (bytes.find(wide) != std::string::npos)
    fail(printable(where, 400), "is encrypted with a password",
         "open it with its program, and save it without the password");
  fail(printable(where, 400), "is a document of Office 97 to 2003",
       "open it with its program or LibreOffice, and save it as .docx, .xlsx or .pptx");
}

std::shared_ptr<const std::string> checked(std::string bytes, const std::string& where) {
  check_kind(bytes, where);
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace

Package::Package(std::string bytes, const std::string& where)
    : bytes_(checked(std::move(bytes), where)), where_(where), archive_(where, bytes_of(*bytes_), bytes_) {
  if (archive_.members().size() > most_written_members)
    fail(printable(where_, 400),
         fmt::format("has {} members, but at most {} can be written", archive_.members().size(), most_written_members),
         "divide the document");
  for (const ZipMember& m : archive_.members()) {
    if (leads_outside(m.name)) fail(place_of(m.name), "the name of this member leads out of the archive");
    members_.push_back(&m);
  }
  std::stable_sort(members_.begin(), members_.end(),
                   [](const ZipMember* a, const ZipMember* b) { return a->packed.data() < b->packed.data(); });
}

std::string Package::place_of(std::string_view name) const {
  return printable(where_, 400) + ": " + printable(name, 200);
}

std::string Package::read(const ZipMember& member) {
  constexpr std::uint64_t always = 1 << 20;
  if (member.size > always && member.size / most_unpacked_times > member.packed.size())
    fail(place_of(member.name), fmt::format("unpacks from {} to {} bytes, expected at most {} times as many",
                                            member.packed.size(), member.size, most_unpacked_times));
  if (member.size > most_unpacked_bytes - unpacked_)
    fail(place_of(member.name),
         fmt::format("the document's texts have more than {} bytes when unpacked", most_unpacked_bytes),
         "divide the document");
  unpacked_ += member.size;
  return archive_.read(member, most_unpacked_bytes);
}

std::string Package::read(std::string_view name) {
  const ZipMember* const member = archive_.find(name);
  if (!member)
    fail(printable(where_, 400), fmt::format("has no member {}", printable(name, 200)), "is its name right?");
  return read(*member);
}

void Package::check_xml(const ZipMember& member) {
  if (member.size > most_checked_bytes - checked_) return;
  checked_ += member.size;
  const std::string content = archive_.read(member, most_checked_bytes);
  if (content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff")) return;  // UTF-16, which is rare
  XmlNodes(content, place_of(member.name));
}

void Package::refuse_signature() const {
  fail(printable(where_, 400), "has a digital signature, which a translation would make invalid",
       "translate a copy without the signature");
}
void Package::refuse_encryption() const {
  fail(printable(where_, 400), "is encrypted", "open it with its program, and save it without the password");
}

void PackageDocument::add(const ZipMember& member, std::unique_ptr<Document> document) {
  const std::vector<Segment>& segments = document->segments();
  if (segments.empty()) return;
  const std::size_t first = segments_.size();
  segments_.insert(segments_.end(), segments.begin(), segments.end());
  parts_.push_back({&member, std::move(document), first});
}

std::string PackageDocument::write(std::span<const Segment> translated) const {
  if (std::equal(translated.begin(), translated.end(), segments_.begin(), segments_.end())) return package_.bytes();
  ZipWriter writer;
  for (const ZipMember* const member : package_.members()) {
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.member == member; });
    if (part == parts_.end()) {
      writer.copy(*member);
      continue;
    }
    const std::size_t count = part->document->segments().size();
    const auto first = segments_.begin() + static_cast<std::ptrdiff_t>(part->first);
    const std::span<const Segment> own = translated.subspan(part->first, count);
    if (std::equal(own.begin(), own.end(), first))
      writer.copy(*member);
    else
      writer.replace(*member, part->document->write(own));
  }
  return writer.finish(package_.where());
}

}  // namespace tril::document
