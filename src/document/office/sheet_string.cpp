#include "document/office/paragraph_content.h"

namespace tril::document {
namespace {

// Bytes of a line end at the start of a text: a character, or Excel's escape of one ("_x000D_"); 0: none.
std::size_t line_end_size(std::string_view text) {
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  return text.starts_with("_x000D_") || text.starts_with("_x000A_") ? 7 : 0;
}

}  // namespace

ParagraphContent sheet_string(const XmlNodes& nodes, std::size_t item) {
  ParagraphContent content;
  Paragraph& p = content.paragraph;
  RunProperties properties(p);
  const std::string prefix = nodes.prefix(item);
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
    for (Inline& part : divided_text(nodes.text(text), number, line_end_size))
      content.inlines.push_back(std::move(part));
  }
  return content;
}

}  // namespace tril::document
