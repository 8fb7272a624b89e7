#include "document/office/office.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "document/office/office_part.h"
#include "document/office/package.h"
#include "document/office/relationships.h"
#include "document/xml/xml_nodes.h"
#include "unicode/letter_case.h"

namespace tril::document {
namespace {

// The ends of the content types of members that are read (ECMA-376 part 1, annex A).
constexpr std::array<std::string_view, 21> read_types{
    "wordprocessingml.document.main+xml", "word.document.macroEnabled.main+xml",
    "wordprocessingml.template.main+xml", "word.template.macroEnabledTemplate.main+xml",
    "wordprocessingml.header+xml",        "wordprocessingml.footer+xml",
    "wordprocessingml.footnotes+xml",     "wordprocessingml.endnotes+xml",
    "wordprocessingml.comments+xml",      "presentationml.slide+xml",
    "presentationml.notesSlide+xml",      "drawingml.diagramData+xml",
    "drawingml.diagramDrawing+xml",       "drawingml.chart+xml",
    "drawingml.chartshapes+xml",          "officedocument.drawing+xml",
    "spreadsheetml.sharedStrings+xml",    "spreadsheetml.comments+xml",
    "spreadsheetml.worksheet+xml",        "ms-excel.sheet.macroEnabled.worksheet+xml",
    "package.core-properties+xml"};

constexpr std::string_view escaped_line_end = "_x000a_";  // in the name of a column
constexpr std::string_view types_name = "[Content_Types].xml";

// The content types of an OOXML package's members, by name. Names and extensions are compared without case.
class ContentTypes {
 public:
  explicit ContentTypes(Package& package) {
    const std::string bytes = package.read(types_name);
    const XmlNodes nodes(bytes, package.place_of(types_name));
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes.is(n, Vocabulary::content_types, "Override"))
        of_part_[lower_case(nodes.attribute(n, "PartName"))] = nodes.attribute(n, "ContentType");
      if (nodes.is(n, Vocabulary::content_types, "Default"))
        of_extension_[lower_case(nodes.attribute(n, "Extension"))] = nodes.attribute(n, "ContentType");
    }
  }

  std::string of(const std::string& name) const {
    const std::string member = lower_case(name);
    if (const auto part = of_part_.find("/" + member); part != of_part_.end()) return part->second;
    const auto extension = of_extension_.find(member.substr(member.find_last_of('.') + 1));
    return extension == of_extension_.end() ? "" : extension->second;
  }

 private:
  std::map<std::string, std::string> of_part_, of_extension_;
};

// Texts of cells by which tables and pivot tables name their columns: the file is damaged if only one of the two changes.
void add_column_names(std::set<std::string>& names, Package& package, const ZipMember& member) {
  const std::string bytes = package.read(member);
  const XmlNodes nodes(bytes, package.place_of(member.name));
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes.is(n, Vocabulary::sheet, "tableColumn") || nodes.is(n, Vocabulary::sheet, "cacheField")) {
      std::string name = nodes.attribute(n, "name");
      for (std::size_t at = name.find(escaped_line_end); at != std::string::npos; at = name.find(escaped_line_end, at))
        name.replace(at, escaped_line_end.size(), "\n");
      names.insert(std::move(name));
    }
}

// Whether a member without text has to be well-formed. Office programs open a file whose theme or statistics are damaged.
bool is_needed(std::string_view type) {
  constexpr std::array<std::string_view, 3> unneeded{"theme+xml", "extended-properties+xml", "custom-properties+xml"};
  return type.ends_with("+xml") &&
         std::none_of(unneeded.begin(), unneeded.end(), [&](std::string_view t) { return type.ends_with(t); });
}

bool is_office_text(std::string_view type) {
  return std::any_of(read_types.begin(), read_types.end(), [&](std::string_view t) { return type.ends_with(t); });
}

}  // namespace

std::unique_ptr<Document> read_office_open_xml(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<PackageDocument>(Package(std::move(bytes), options.where));
  Package& package = document->package();
  const ContentTypes types(package);
  std::vector<const ZipMember*> mains;
  for (const ZipMember* const m : package.members()) {
    const std::string type = types.of(m->name);
    if (type.ends_with(".main+xml")) mains.push_back(m);
    if (type.find("digital-signature") != std::string::npos) package.refuse_signature();
  }
  if (mains.empty())
    fail(package.place_of(types_name), "names no main part: no document, presentation or workbook",
         "is the file's name right, and is it complete?");
  const Relationships relationships(package);
  for (const ZipMember* const m : mains)
    if (!is_office_text(types.of(m->name))) relationships.check_pages(package, *m);
  std::set<std::string> kept;
  for (const ZipMember* const m : package.members()) {
    const std::string type = types.of(m->name);
    if (type.ends_with("spreadsheetml.table+xml") || type.ends_with("spreadsheetml.pivotCacheDefinition+xml"))
      add_column_names(kept, package, *m);
  }
  for (const ZipMember* const m : package.members()) {
    const std::string type = types.of(m->name);
    if (!is_office_text(type)) {
      if (is_needed(type)) package.check_xml(*m);
      continue;
    }
    std::string content = package.read(*m);
    if (type.ends_with("worksheet+xml") && content.find("inlineStr") == std::string::npos) {
      package.check_xml(*m);  // its texts are in another member
      continue;
    }
    document->add(*m, read_office_part(std::move(content), package.place_of(m->name), kept));
  }
  return document;
}

std::unique_ptr<Document> read_open_document(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<PackageDocument>(Package(std::move(bytes), options.where));
  Package& package = document->package();
  if (package.has("META-INF/documentsignatures.xml")) package.refuse_signature();
  const std::string manifest = package.read("META-INF/manifest.xml");
  const XmlNodes nodes(manifest, package.place_of("META-INF/manifest.xml"));
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].kind == XmlNode::element && nodes.local(n) == "encryption-data") package.refuse_encryption();
  if (!package.has("content.xml"))
    fail(package.where(), "has no member content.xml", "is its name right, and is it complete?");
  for (const ZipMember* const m : package.members()) {
    const std::string name = m->name.substr(m->name.find_last_of('/') + 1);
    if (name == "content.xml" || name == "styles.xml" || name == "meta.xml")
      document->add(*m, read_office_part(package.read(*m), package.place_of(m->name)));
    if (name == "settings.xml") package.check_xml(*m);
  }
  return document;
}

}  // namespace tril::document
