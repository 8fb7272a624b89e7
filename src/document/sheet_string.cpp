#include "document/paragraph_content.h"

namespace tril::document {
namespace {

// Adds a cell's text, with a boundary for each line end.
void add_lines(ParagraphContent& content, std::string_view words, std::size_t properties) {
  while (!words.empty()) {
    const std::size_t line = std::min(words.find_first_of("\r\n"), words.size());
    if (line > 0)
      content.inlines.push_back(
          {.kind = Inline::text, .properties = properties, .words = std::string(words.substr(0, line))});
    const std::size_t end = std::min(words.find_first_not_of("\r\n", line), words.size());
    if (end > line)
      content.inlines.push_back(
          {.kind = Inline::boundary, .properties = properties, .words = std::string(words.substr(line, end - line))});
    words.remove_prefix(end);
  }
}

}  // namespace

ParagraphContent sheet_string(const XmlNodes& nodes, std::size_t item) {
  ParagraphContent content;
  Paragraph& p = content.paragraph;
  RunProperties properties(p);
  const std::string_view name = nodes[item].tag.name();
  const std::string prefix(name.substr(0, name.size() - nodes.local(item).size()));
  p.names = {.run = nodes.child(item, "r") != 0 ? prefix + "r" : "", .text = prefix + "t"};
  p.at = nodes[item].inside;
  for (std::size_t n = item + 1; n < nodes[item].next; n = nodes[n].next) {
    const std::size_t text = nodes.is(n, Vocabulary::sheet, "t")   ? n
                             : nodes.is(n, Vocabulary::sheet, "r") ? nodes.child(n, "t")
                                                                   : 0;
    if (text == 0) continue;
    const std::size_t format = text == n ? 0 : nodes.child(n, "rPr");
    const Range inside = nodes[format].inside;
    const std::string key = format == 0 ? "" : std::string(nodes.bytes().substr(inside.begin, inside.size()));
    const std::size_t number = properties.number(format == 0 ? Range{} : nodes[format].at, key);
    add_lines(content, nodes.text(text), number);
  }
  return content;
}

}  // namespace tril::document
