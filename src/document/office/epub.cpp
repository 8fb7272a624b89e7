#include "document/office/epub.h"

#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "document/markup/html.h"
#include "document/office/member_path.h"
#include "document/office/office_part.h"
#include "document/office/package.h"
#include "document/segments/stated_encoding.h"
#include "document/xml/xml_nodes.h"

namespace tril::document {
namespace {

// The fonts of many books are obfuscated, which is listed as encryption but hides no text.
bool hides_fonts_only(std::string_view algorithm) {
  return algorithm == "http://www.idpf.org/2008/embedding" || algorithm == "http://ns.adobe.com/pdf/enc#RC";
}

void check_rights(Package& package) {
  if (package.has("META-INF/signatures.xml")) package.refuse_signature();
  const std::string name = "META-INF/encryption.xml";
  if (!package.has(name)) return;
  const std::string bytes = package.read(name);
  const XmlNodes nodes(bytes, package.place_of(name));
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].kind == XmlNode::element && nodes.local(n) == "EncryptionMethod" &&
        !hides_fonts_only(nodes.attribute(n, "Algorithm")))
      package.refuse_encryption();
}

// The name of the package file, which lists all others.
std::string package_file(Package& package) {
  const std::string name = "META-INF/container.xml";
  const std::string bytes = package.read(name);
  const XmlNodes nodes(bytes, package.place_of(name));
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes.is(n, Vocabulary::container, "rootfile")) return nodes.attribute(n, "full-path");
  fail(package.place_of(name), "names no package file, expected an element <rootfile> in EPUB's namespace",
       "open the book in the program that made it, and save it again");
}

// A member that is listed, by the kind of its content.
std::unique_ptr<Document> read_page(Package& package, const ZipMember& member) {
  std::string bytes = package.read(member);
  const std::string where = package.place_of(member.name);
  check_encoding(bytes, where);
  return read_html(with_stated_utf8(std::move(bytes), StatesEncoding::html, where));
}

}  // namespace

std::unique_ptr<Document> read_epub(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<PackageDocument>(Package(std::move(bytes), options.where));
  Package& package = document->package();
  check_rights(package);
  const std::string name = package_file(package);
  const std::string list = package.read(name);
  const XmlNodes nodes(list, package.place_of(name));
  document->add(*package.archive().find(name), read_office_part(list, package.place_of(name)));
  const std::string_view directory = directory_of(name);
  std::set<std::string> done;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!nodes.is(n, Vocabulary::opf, "item")) continue;
    const std::string type = nodes.attribute(n, "media-type");
    const std::string path = member_path(directory, nodes.attribute(n, "href"));
    const ZipMember* const member = package.archive().find(path);
    const bool is_page = type == "application/xhtml+xml", is_contents = type == "application/x-dtbncx+xml";
    if (!member && (is_page || is_contents))
      fail(package.place_of(name), fmt::format("lists {}, which is not in the book", printable(path)),
           "is the book complete? a reading program can write it again");
    if (!member || !done.insert(path).second || path == name) continue;
    if (is_page) document->add(*member, read_page(package, *member));
    if (is_contents) document->add(*member, read_office_part(package.read(*member), package.place_of(path)));
  }
  return document;
}

}  // namespace tril::document
