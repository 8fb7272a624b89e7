#include "document/office/paragraph_content.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

// Attributes of <a:rPr> that no reader sees.
bool is_invisible(std::string_view attribute) {
  return attribute == "lang" || attribute == "altLang" || attribute == "dirty" || attribute == "err" ||
         attribute == "noProof" || attribute == "smtClean" || attribute == "smtId";
}

std::string look_of(const XmlNodes& nodes, std::size_t properties) {
  std::string key;
  for (const pugi::xml_attribute a : nodes[properties].tag.attributes())
    if (!is_invisible(a.name())) key += std::string(a.name()) + "=" + a.value() + " ";
  const Range inside = nodes[properties].inside;
  return key + std::string(nodes.bytes().substr(inside.begin, inside.size()));
}

}  // namespace

ParagraphContent drawing_paragraph(const XmlNodes& nodes, std::size_t paragraph) {
  ParagraphContent content;
  Paragraph& p = content.paragraph;
  RunProperties properties(p);
  const std::string prefix = nodes.prefix(paragraph);
  p.names = {.run = prefix + "r", .text = prefix + "t", .says_space = false};
  p.at = nodes[paragraph].inside;
  for (std::size_t n = paragraph + 1; n < nodes[paragraph].next; n = nodes[n].next) {
    if (nodes[n].kind != XmlNode::element) continue;
    const auto is = [&](std::string_view local) { return nodes.is(n, Vocabulary::drawing, local); };
    if (is("pPr")) {
      p.at.begin = nodes[n].at.end;
    } else if (is("endParaRPr")) {
      p.at.end = nodes[n].at.begin;
    } else if (is("r")) {
      const std::size_t format = nodes.child(n, "rPr"), text = nodes.child(n, "t");
      const std::size_t number =
          format == 0 ? properties.number({}, "") : properties.number(nodes[format].at, look_of(nodes, format));
      if (text != 0)
        for (Inline& part : tabbed_text(nodes.text(text), number)) content.inlines.push_back(std::move(part));
    } else if (is("br")) {
      content.inlines.push_back({.kind = Inline::line_break, .raw = nodes[n].at});
    } else {
      const std::size_t text = is("fld") ? nodes.child(n, "t") : 0;
      const std::string words = text == 0 ? "" : nodes.text(text);
      content.inlines.push_back(
          {.kind = is_blank(words) ? Inline::point : Inline::fixed, .raw = nodes[n].at, .words = words});
      content.others.push_back(n);
    }
  }
  return content;
}

}  // namespace tril::document
