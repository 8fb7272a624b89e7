#include "format/xml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"

namespace tril {
namespace {

std::string place_of(std::string_view bytes, std::ptrdiff_t offset, const std::string& where) {
  const std::string_view before = bytes.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  return fmt::format("{}: line {}, column {}", where, line_of(bytes, before.size()),
                     before.size() - (before.rfind('\n') + 1) + 1);
}

// pugixml reads several root elements, and text around them; XML has one.
void check_root(const pugi::xml_document& file, std::string_view bytes, const std::string& where) {
  bool found = false;
  for (const pugi::xml_node node : file.children()) {
    const bool is_element = node.type() == pugi::node_element;
    const bool is_text = node.type() == pugi::node_cdata ||
                         (node.type() == pugi::node_pcdata &&
                          std::string_view(node.value()).find_first_not_of(" \t\r\n") != std::string_view::npos);
    if (is_text || (is_element && found))
      fail(place_of(bytes, node.offset_debug(), where),
           is_text ? "is not well-formed XML: text outside of the root element"
                   : fmt::format("is not well-formed XML: a second root element, <{}>", printable(node.name(), 60)),
           "is it damaged, or several files in one?");
    found = found || is_element;
  }
  if (!found) fail(where, "is not well-formed XML: it has no element", "is the file empty or truncated?");
}

// A declared entity could expand without bound, or name another file.
void check_declarations(const pugi::xml_document& file, const std::string& where) {
  for (const pugi::xml_node node : file.children())
    if (node.type() == pugi::node_doctype && std::string_view(node.value()).find("<!ENTITY") != std::string_view::npos)
      fail(where, "its DOCTYPE declares entities, which tril does not expand",
           "write the characters instead of the entities, and remove the declarations");
}

class Depth final : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node&) override { return static_cast<std::size_t>(depth()) < most_nested_elements; }
};

}  // namespace

pugi::xml_document parse_xml(std::string_view bytes, const std::string& where, XmlText text) {
  const auto parts =
      static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), [](char c) { return c == '<' || c == '='; }));
  if (parts > most_xml_parts)
    fail(where, fmt::format("has {} tags and attributes, expected at most {}", parts, most_xml_parts),
         "divide the file");
  unsigned flags = pugi::parse_full | pugi::parse_ws_pcdata | pugi::parse_fragment;
  if (text == XmlText::verbatim) flags &= ~(pugi::parse_escapes | pugi::parse_eol | pugi::parse_wconv_attribute);
  pugi::xml_document file;
  const auto encoding = text == XmlText::verbatim ? pugi::encoding_utf8 : pugi::encoding_auto;
  const pugi::xml_parse_result result = file.load_buffer(bytes.data(), bytes.size(), flags, encoding);
  if (!result)
    fail(place_of(bytes, result.offset, where), fmt::format("is not well-formed XML: {}", result.description()));
  check_root(file, bytes, where);
  check_declarations(file, where);
  Depth depth;
  if (!file.traverse(depth)) fail(where, fmt::format("its elements are nested deeper than {}", most_nested_elements));
  return file;
}

pugi::xml_node child_element(const pugi::xml_node& parent, std::string_view name) {
  return parent.find_child([&](const pugi::xml_node& node) { return local_name(node.name()) == name; });
}

std::string_view local_name(std::string_view qualified_name) {
  return qualified_name.substr(qualified_name.find(':') + 1);
}

}  // namespace tril
