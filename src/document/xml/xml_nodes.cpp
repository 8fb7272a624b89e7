#include "document/xml/xml_nodes.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/printable.h"
#include "document/markup/html.h"
#include "document/segments/document.h"
#include "document/xml/well_formed.h"
#include "document/xml/xml_places.h"

namespace tril::document {
namespace {

struct Namespace {
  std::string_view uri;
  Vocabulary vocabulary;
};
constexpr std::array<Namespace, 19> namespaces{
    {{"http://schemas.openxmlformats.org/wordprocessingml/2006/main", Vocabulary::word},
     {"http://purl.oclc.org/ooxml/wordprocessingml/main", Vocabulary::word},
     {"http://schemas.openxmlformats.org/drawingml/2006/main", Vocabulary::drawing},
     {"http://purl.oclc.org/ooxml/drawingml/main", Vocabulary::drawing},
     {"http://schemas.openxmlformats.org/spreadsheetml/2006/main", Vocabulary::sheet},
     {"http://purl.oclc.org/ooxml/spreadsheetml/main", Vocabulary::sheet},
     {"urn:oasis:names:tc:opendocument:xmlns:text:1.0", Vocabulary::odf_text},
     {"urn:oasis:names:tc:opendocument:xmlns:table:1.0", Vocabulary::odf_table},
     {"urn:oasis:names:tc:opendocument:xmlns:office:1.0", Vocabulary::odf_office},
     {"http://www.daisy.org/z3986/2005/ncx/", Vocabulary::ncx},
     {"http://purl.org/dc/elements/1.1/", Vocabulary::dublin_core},
     {"http://www.idpf.org/2007/opf", Vocabulary::opf},
     {"urn:oasis:names:tc:opendocument:xmlns:container", Vocabulary::container},
     {"http://schemas.openxmlformats.org/package/2006/content-types", Vocabulary::content_types},
     {"http://schemas.openxmlformats.org/package/2006/metadata/core-properties", Vocabulary::core_properties},
     {"urn:oasis:names:tc:opendocument:xmlns:meta:1.0", Vocabulary::odf_meta},
     {"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0", Vocabulary::odf_svg},
     {"urn:schemas-microsoft-com:vml", Vocabulary::vml},
     {"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0", Vocabulary::odf_office}}};

Vocabulary vocabulary_of(std::string_view uri) {
  const auto* const found =
      std::find_if(namespaces.begin(), namespaces.end(), [&](const Namespace& n) { return n.uri == uri; });
  return found == namespaces.end() ? Vocabulary::other : found->vocabulary;
}

}  // namespace

XmlNodes::XmlNodes(std::string_view bytes, const std::string& where) : bytes_(bytes) {
  check_encoding(bytes, where);
  check_xml_characters(bytes, where);
  file_ = parse_xml(bytes, where, XmlText::verbatim);
  const pugi::xml_node root = file_.document_element();
  if (!root) fail(where, "has no root element");
  std::size_t at = XmlPlaces(bytes).open_tag(root).begin;
  nodes_.reserve(static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '<')));
  const auto nodes = file_.children();
  has_doctype_ =
      std::any_of(nodes.begin(), nodes.end(), [](const pugi::xml_node& n) { return n.type() == pugi::node_doctype; });
  Prefixes prefixes;
  add(root, at, prefixes, where);
}

// Adds a node that begins at byte `at`, and everything in it. `at` moves behind it. parse_xml() bounds the recursion.
void XmlNodes::add(pugi::xml_node from, std::size_t& at, Prefixes& prefixes, const std::string& where) {
  const std::size_t number = nodes_.size(), begin = at;
  std::vector<std::string_view> declared;
  nodes_.push_back({.at = {begin, begin}, .inside = {begin, begin}, .tag = from});
  XmlNode node = nodes_.back();
  const XmlPlaces places(bytes_);
  if (from.type() == pugi::node_element) {
    for (const pugi::xml_attribute a : from.attributes()) {
      const std::string_view name = a.name();
      if (name != "xmlns" && !name.starts_with("xmlns:")) continue;
      declared.push_back(name == "xmlns" ? "" : name.substr(6));
      prefixes[declared.back()].push_back(vocabulary_of(a.value()));
    }
    check_xml_tag(from, where);
    const auto find_prefix = [&](const char* name) {
      std::string_view prefix = prefix_of(name);
      if (!prefix.empty()) prefix.remove_suffix(1);
      const auto known = prefixes.find(prefix);
      const bool declared_here = known != prefixes.end() && !known->second.empty();
      if (!declared_here && !prefix.empty() && prefix != "xml" && prefix != "xmlns")
        fail(where,
             fmt::format("is not namespace-well-formed XML: the prefix of {} is not declared", printable(name, 60)),
             save_again);
      return known;
    };
    const auto known = find_prefix(from.name());
    for (const pugi::xml_attribute a : from.attributes()) {
      find_prefix(a.name());
      if (!has_doctype_) check_xml_references(a.value(), where);
    }
    node.kind = XmlNode::element;
    node.space = known == prefixes.end() || known->second.empty() ? Vocabulary::other : known->second.back();
    at = places.open_tag(from).end;
    node.inside = {at, at};
    if (bytes_[at - 2] != '/') {
      for (const pugi::xml_node c : from.children()) add(c, at, prefixes, where);
      node.inside.end = at;
      if (bytes_.substr(at, 2) != "</") fail(where, fmt::format("is not well-formed XML near byte {}", at));
      at = std::min(bytes_.find('>', at), bytes_.size() - 1) + 1;
    }
  } else {
    at = places.whole(from).end;
    if (from.type() == pugi::node_pcdata) {
      node.kind = XmlNode::text, node.inside = {begin, at};
      if (!has_doctype_) check_xml_references(bytes_.substr(begin, at - begin), where);
    }
    if (from.type() == pugi::node_cdata) node.kind = XmlNode::cdata, node.inside = {begin + 9, at - 3};
  }
  node.at = {begin, at};
  node.next = nodes_.size();
  nodes_[number] = node;
  for (const std::string_view prefix : declared) prefixes[prefix].pop_back();
}

std::string XmlNodes::prefix(std::size_t node) const {
  return std::string(prefix_of(nodes_[node].tag.name()));
}

std::size_t XmlNodes::child(std::size_t node, std::string_view name) const {
  for (std::size_t c = node + 1; c < nodes_[node].next; c = nodes_[c].next)
    if (nodes_[c].kind == XmlNode::element && local(c) == name) return c;
  return 0;
}

std::string XmlNodes::attribute(std::size_t node, std::string_view name) const {
  for (const pugi::xml_attribute a : nodes_[node].tag.attributes())
    if (local_name(a.name()) == name) return html_unescaped(a.value());
  return "";
}

std::string XmlNodes::text(std::size_t node) const {
  std::string all;
  for (std::size_t n = node; n < nodes_[node].next; ++n) {
    const std::string_view inside = bytes_.substr(nodes_[n].inside.begin, nodes_[n].inside.size());
    if (nodes_[n].kind == XmlNode::text) all += html_unescaped(inside);
    if (nodes_[n].kind == XmlNode::cdata) all += inside;
  }
  return all;
}

}  // namespace tril::document
