#include "document/office/relationships.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "document/office/member_path.h"
#include "document/xml/xml_nodes.h"
#include "unicode/letter_case.h"

namespace tril::document {
namespace {

constexpr std::string_view main_kind = "officeDocument";
// The ends of the types of relationships to parts with text, and to what slides and sheets are made of.
constexpr std::array<std::string_view, 12> needed_kinds{main_kind,     "worksheet",  "sharedStrings", "comments",
                                                        "slide",       "notesSlide", "header",        "slideMaster",
                                                        "slideLayout", "footer",     "footnotes",     "endnotes"};

constexpr const char* repair = "is the file complete? the program that made it may repair it";

std::string_view kind_of(std::string_view type) {
  return type.substr(type.find_last_of('/') + 1);
}

// "word/_rels/document.xml.rels" -> "word"
std::string_view directory_of_part(std::string_view list) {
  return directory_of(directory_of(list));
}

// "word/document.xml" -> "word/_rels/document.xml.rels", in lower case
std::string list_of(const std::string& part) {
  const std::string directory(directory_of(part));
  const std::string name = part.substr(directory.empty() ? 0 : directory.size() + 1);
  return lower_case((directory.empty() ? "" : directory + "/") + "_rels/" + name + ".rels");
}

}  // namespace

Relationships::Relationships(Package& package) {
  std::set<std::string> names;  // are compared without case
  for (const ZipMember* const m : package.members()) names.insert(lower_case(member_path("", m->name)));
  bool has_main = false;
  for (const ZipMember* const m : package.members()) {
    const std::string list = lower_case(m->name), where = package.place_of(m->name);
    if (!list.ends_with(".rels")) continue;
    const std::string bytes = package.read(*m);
    const XmlNodes nodes(bytes, where);
    std::set<std::string>& ids = ids_[list];
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].kind != XmlNode::element || nodes.local(n) != "Relationship") continue;
      ids.insert(nodes.attribute(n, "Id"));
      const std::string type = nodes.attribute(n, "Type");
      const std::string_view kind = kind_of(type);
      if (std::find(needed_kinds.begin(), needed_kinds.end(), kind) == needed_kinds.end() ||
          nodes.attribute(n, "TargetMode") == "External")
        continue;
      const std::string target = member_path(directory_of_part(m->name), nodes.attribute(n, "Target"));
      if (!names.contains(lower_case(target)))
        fail(where, fmt::format("names {}, which is not in the file", printable(target)), repair);
      has_main = has_main || (list == "_rels/.rels" && kind == main_kind);
    }
  }
  if (!has_main)
    fail(package.where(), "has no relationship to a main part: no document, presentation or workbook",
         "is the file's name right, and is it complete?");
}

void Relationships::check_pages(Package& package, const ZipMember& main) const {
  const std::string bytes = package.read(main), where = package.place_of(main.name), list = list_of(main.name);
  const XmlNodes nodes(bytes, where);
  const auto ids = ids_.find(list);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind != XmlNode::element || (nodes.local(n) != "sheet" && nodes.local(n) != "sldId")) continue;
    for (const pugi::xml_attribute a : nodes[n].tag.attributes()) {
      const std::string_view name = a.name();
      if (name == "id" || local_name(name) != "id") continue;  // a slide's own number has no prefix
      if (ids == ids_.end() || !ids->second.contains(a.value()))
        fail(where, fmt::format("names a page {} that {} lacks", printable(a.value(), 60), printable(list)), repair);
    }
  }
}

}  // namespace tril::document
