#include <algorithm>
#include <cctype>

#include "document/markup/html.h"
#include "document/office/paragraph_content.h"
#include "document/segments/character_references.h"
#include "document/segments/string_segment.h"
#include "document/xml/xml_places.h"

namespace tril::document {
namespace {

// A name that ends in ".png" or the like. A sentence of Chinese has no blanks either.
bool is_file_name(std::string_view text) {
  constexpr std::size_t longest_extension = 5;
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || text.find_first_of(" \t\r\n") != std::string_view::npos) return false;
  const std::string_view extension = text.substr(dot + 1);
  return !extension.empty() && extension.size() <= longest_extension &&
         std::all_of(extension.begin(), extension.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

std::optional<ParagraphContent> attribute_paragraph(const XmlNodes& nodes, std::size_t element, std::string_view name) {
  const std::string_view bytes = nodes.bytes();
  const XmlPlaces places(bytes);
  const Range at = places.attribute_value(places.open_tag(nodes[element].tag), name);
  if (at.empty()) return std::nullopt;
  const std::string_view value = places.text(at);
  if (is_file_name(value)) return std::nullopt;  // programs describe a picture by the name of its file
  ParagraphContent content{.paragraph = {.at = at, .quote = bytes[at.end]}};
  const auto add = [&](Range part) {
    std::string words = html_unescaped(places.text(part));
    for (const char c : {'\n', '\r', '\t'}) std::replace(words.begin(), words.end(), c, ' ');
    Segment text;
    text.text = words;
    if (is_worth_translating(text))
      content.inlines.push_back({.kind = Inline::text, .words = std::move(words)});
    else if (!part.empty())
      content.inlines.push_back({.kind = Inline::boundary, .raw = part});
  };
  // Line ends are written as references: an XML parser reads others as blanks.
  Range line{at.begin, at.begin};
  for (std::size_t place = at.begin; place < at.end;) {
    const auto known = bytes[place] == '&' ? character_reference(bytes.substr(place, at.end - place)) : std::nullopt;
    const std::size_t size = known ? known->bytes : 1;
    if (known && (known->text == "\n" || known->text == "\r")) {
      add({line.begin, place});
      content.inlines.push_back({.kind = Inline::boundary, .raw = {place, place + size}});
      line.begin = place + size;
    }
    place += size;
  }
  add({line.begin, at.end});
  return content;
}

}  // namespace tril::document
