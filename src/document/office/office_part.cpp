#include "document/office/office_part.h"

#include <algorithm>

#include "document/office/paragraph_content.h"
#include "document/segments/stated_encoding.h"

namespace tril::document {
namespace {

class OfficePartReader {
 public:
  OfficePartReader(XmlPart& part, const XmlNodes& nodes, const std::set<std::string>& kept)
      : part_(part), nodes_(nodes), kept_(kept), styles_(nodes), is_book_(nodes[0].space == Vocabulary::opf) {}

  void read(std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end;) {
      if (nodes_[n].kind == XmlNode::element && nodes_.local(n) == "master-page") master_end_ = nodes_[n].next;
      if (stays(n)) {
        read_comments(n);
        n = nodes_[n].next;
        continue;
      }
      add_alternative_texts(n);
      auto content = paragraph_at(n);
      if (!content) {
        ++n;
        continue;
      }
      add_paragraph(part_, std::move(content->paragraph), std::move(content->inlines));
      for (const std::size_t other : content->others) read(other + 1, nodes_[other].next);
      n = nodes_[n].next;
    }
  }

 private:
  std::optional<ParagraphContent> paragraph_at(std::size_t n) const {
    const std::string_view name = nodes_[n].kind == XmlNode::element ? nodes_.local(n) : std::string_view();
    switch (nodes_[n].space) {
      case Vocabulary::word:
        if (name == "p") return word_paragraph(nodes_, n);
        break;
      case Vocabulary::drawing:
        if (name == "p") return drawing_paragraph(nodes_, n);
        break;
      case Vocabulary::sheet:
        if (name == "si" || name == "is" || name == "text") return sheet_string(nodes_, n);
        break;
      case Vocabulary::odf_text:
        if (name == "p" || name == "h") return odf_paragraph(nodes_, styles_, n);
        break;
      case Vocabulary::ncx:
        if (name == "text") return plain_element(nodes_, n);
        break;
      case Vocabulary::dublin_core:
        if (name == "title" || (!is_book_ && (name == "subject" || name == "description")))
          return plain_element(nodes_, n);
        break;
      case Vocabulary::core_properties:
        if (name == "keywords") return plain_element(nodes_, n);
        break;
      case Vocabulary::odf_meta:
        if (name == "keyword") return plain_element(nodes_, n);
        break;
      case Vocabulary::odf_svg:
        if (name == "title" || name == "desc") return plain_element(nodes_, n);
        break;
      default:
        break;
    }
    return std::nullopt;
  }

  // What stands for a picture if it is not seen.
  void add_alternative_texts(std::size_t n) {
    if (nodes_[n].kind != XmlNode::element) return;
    const std::string_view name = nodes_.local(n);
    const bool is_drawing = name == "docPr" || name == "cNvPr";
    if (!is_drawing && nodes_[n].space != Vocabulary::vml) return;
    std::vector<ParagraphContent> texts;
    for (const std::string_view attribute : {"title", "descr", "alt"})
      if (is_drawing != (attribute == "alt"))
        if (auto text = attribute_paragraph(nodes_, n, attribute)) texts.push_back(std::move(*text));
    std::sort(texts.begin(), texts.end(), [](const ParagraphContent& a, const ParagraphContent& b) {
      return a.paragraph.at.begin < b.paragraph.at.begin;
    });
    for (ParagraphContent& t : texts) add_paragraph(part_, std::move(t.paragraph), std::move(t.inlines));
  }

  // A cell of a number has comments, too.
  void read_comments(std::size_t cell) {
    for (std::size_t n = cell + 1; n < nodes_[cell].next; n = nodes_[n].next)
      if (nodes_.is(n, Vocabulary::odf_office, "annotation")) read(n + 1, nodes_[n].next);
  }

  // "Click to edit the title": what the masters of slides have in place of a slide's own text.
  bool is_prompt(std::size_t n) const {
    if (n >= master_end_ || nodes_.local(n) != "frame") return false;
    const std::string kind = nodes_.attribute(n, "class");
    return kind == "title" || kind == "subtitle" || kind == "outline" || kind == "notes";
  }

  // The text of a spreadsheet's string as a cell shows it, without phonetic guides.
  std::string words_of(std::size_t string) const {
    std::string words;
    for (const Inline& x : sheet_string(nodes_, string).inlines) words += x.words;
    return words;
  }

  // Elements without anything to translate.
  bool stays(std::size_t n) const {
    if (nodes_[n].kind != XmlNode::element) return false;
    if (nodes_.is(n, Vocabulary::odf_text, "tracked-changes") || is_prompt(n)) return true;
    if (nodes_.is(n, Vocabulary::sheet, "si") || nodes_.is(n, Vocabulary::sheet, "is"))
      return !kept_.empty() && kept_.contains(words_of(n));
    if (!nodes_.is(n, Vocabulary::odf_table, "table-cell")) return false;
    // A cell's value is its text only if nothing else says so; the text of a number or a date is how it is shown.
    const std::string type = nodes_.attribute(n, "value-type");
    return (!type.empty() && type != "string") || !nodes_.attribute(n, "formula").empty() ||
           !nodes_.attribute(n, "string-value").empty();
  }

  XmlPart& part_;
  const XmlNodes& nodes_;
  const std::set<std::string>& kept_;
  OdfStyles styles_;
  bool is_book_;
  std::size_t master_end_ = 0;  ///< of the master page that was read last
};

}  // namespace

std::unique_ptr<Document> read_office_part(std::string bytes, const std::string& where,
                                           const std::set<std::string>& kept) {
  check_encoding(bytes, where);
  auto part = std::make_unique<XmlPart>(with_stated_utf8(std::move(bytes), StatesEncoding::xml, where));
  const XmlNodes nodes(part->bytes(), where);
  OfficePartReader(*part, nodes, kept).read(0, nodes.size());
  return part;
}

}  // namespace tril::document
