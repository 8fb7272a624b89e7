#include "document/office/odf_styles.h"

#include <set>
#include <string_view>

namespace tril::document {
namespace {

// Attributes that no reader sees: numbers of revisions, and the language in which the spelling is checked, of each group of scripts.
bool is_unseen(std::string_view attribute) {
  for (const std::string_view script : {"-asian", "-complex"})
    if (attribute.ends_with(script)) attribute.remove_suffix(script.size());
  for (const std::string_view name : {"rsid", "paragraph-rsid", "language", "country", "script", "rfc-language-tag"})
    if (attribute == name) return true;
  return false;
}

std::string visible_attributes(const pugi::xml_node& tag) {
  std::set<std::string> all;  // their order says nothing
  for (const pugi::xml_attribute a : tag.attributes())
    if (!is_unseen(local_name(a.name()))) all.insert(std::string(a.name()) + "=" + a.value());
  std::string joined;
  for (const std::string& a : all) joined += a + "\n";
  return joined;
}

}  // namespace

OdfStyles::OdfStyles(const XmlNodes& nodes) {
  const std::size_t all = nodes.child(0, "automatic-styles");
  if (all == 0) return;
  for (std::size_t n = all + 1; n < nodes[all].next; n = nodes[n].next) {
    if (nodes[n].kind != XmlNode::element || nodes.local(n) != "style" || nodes.attribute(n, "family") != "text")
      continue;
    std::string look = nodes.attribute(n, "parent-style-name");
    for (std::size_t c = n + 1; c < nodes[n].next; ++c)
      if (nodes[c].kind == XmlNode::element) look += visible_attributes(nodes[c].tag);
    looks_.emplace(nodes.attribute(n, "name"), std::move(look));
  }
}

std::string OdfStyles::look_of(const std::string& style) const {
  const auto automatic = looks_.find(style);
  return automatic == looks_.end() ? style : automatic->second;
}

}  // namespace tril::document
