#include "document/xml/xml_places.h"

#include <algorithm>
#include <cstring>

#include "document/markup/html.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

// The end of a tag that begins at `at`: behind the '>' that is not in quotes.
std::size_t end_of_tag(std::string_view bytes, std::size_t at) {
  for (char quote = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '>')
      return at + 1;
  }
  return bytes.size();
}

std::size_t behind(std::string_view bytes, std::string_view mark, std::size_t from) {
  const std::size_t at = bytes.find(mark, from);
  return at == std::string_view::npos ? bytes.size() : at + mark.size();
}

// An attribute in a tag.
struct TagAttribute {
  std::size_t end;   ///< of what stands before it; of all attributes if there is none of the name
  Range value = {};  ///< with its quotes; empty: there is none of the name
};
TagAttribute find_attribute(std::string_view tag, std::string_view name) {
  std::size_t at = 1;
  while (at < tag.size() && !is_blank(tag[at]) && tag[at] != '/' && tag[at] != '>') ++at;
  std::size_t end = at;
  while (at < tag.size()) {
    while (at < tag.size() && is_blank(tag[at])) ++at;
    const std::size_t equals = tag.find('=', at);
    if (equals == std::string_view::npos) break;
    std::size_t key = at;
    while (key < equals && !is_blank(tag[key])) ++key;
    const std::size_t quote = tag.find_first_of("\"'", equals);
    const std::size_t close = quote == std::string_view::npos ? quote : tag.find(tag[quote], quote + 1);
    if (close == std::string_view::npos) break;
    if (tag.substr(at, key - at) == name) return {end, {quote, close + 1}};
    end = at = close + 1;
  }
  return {end};
}

}  // namespace

Range XmlPlaces::open_tag(const pugi::xml_node& element) const {
  const std::size_t begin = static_cast<std::size_t>(element.offset_debug()) - 1;
  return {begin, end_of_tag(bytes_, begin)};
}

Range XmlPlaces::attribute_value(Range tag, std::string_view name) const {
  const Range value = find_attribute(text(tag), name).value;
  return value.empty() ? Range{} : Range{tag.begin + value.begin + 1, tag.begin + value.end - 1};
}

Range XmlPlaces::content(const pugi::xml_node& element) const {
  const Range tag = open_tag(element);
  if (is_alone(tag)) return {tag.end, tag.end};
  const pugi::xml_node last = element.last_child();
  const std::size_t from = last ? whole(last).end : tag.end;
  return {tag.end, std::min(bytes_.find("</", from), bytes_.size())};
}

Range XmlPlaces::whole(const pugi::xml_node& node) const {
  const auto at = static_cast<std::size_t>(node.offset_debug());
  switch (node.type()) {
    case pugi::node_pcdata:
      return {at, at + std::strlen(node.value())};
    case pugi::node_cdata:
      return {at - 9, behind(bytes_, "]]>", at)};
    case pugi::node_comment:
      return {at - 4, behind(bytes_, "-->", at)};
    case pugi::node_pi:
      return {at - 2, behind(bytes_, "?>", at)};
    default: {
      const Range tag = open_tag(node);
      return is_alone(tag) ? tag : Range{tag.begin, behind(bytes_, ">", content(node).end)};
    }
  }
}

std::string attribute_escaped(std::string_view value) {
  std::string s;
  for (const char c : html_escaped(value)) c == '"' ? s += "&quot;" : s += c;
  return s;
}

std::string with_attribute(std::string_view tag, std::string_view name, std::string_view value) {
  const std::string text = '"' + attribute_escaped(value) + '"';
  const TagAttribute found = find_attribute(tag, name);
  if (!found.value.empty())
    return std::string(tag.substr(0, found.value.begin)) + text + std::string(tag.substr(found.value.end));
  return std::string(tag.substr(0, found.end)) + " " + std::string(name) + "=" + text +
         std::string(tag.substr(found.end));
}

std::string without_attribute(std::string_view tag, std::string_view name) {
  const TagAttribute found = find_attribute(tag, name);
  if (found.value.empty()) return std::string(tag);
  return std::string(tag.substr(0, found.end)) + std::string(tag.substr(found.value.end));
}

std::string opening(std::string_view tag) {
  std::string s(tag);
  if (const std::size_t slash = s.size() - 2; s[slash] == '/') s.erase(slash, 1);
  return s;
}

std::string_view prefix_of(std::string_view qualified_name) {
  return qualified_name.substr(0, qualified_name.find(':') + 1);
}

std::string white_space(const pugi::xml_node& node) {
  return node.type() == pugi::node_pcdata && is_blank(node.value()) ? node.value() : "";
}

std::string inherited_attribute(pugi::xml_node node, const char* name) {
  for (; node; node = node.parent())
    if (const pugi::xml_attribute a = node.attribute(name)) return a.value();
  return "";
}

}  // namespace tril::document
