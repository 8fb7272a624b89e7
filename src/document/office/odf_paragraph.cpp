#include <algorithm>

#include "document/office/paragraph_content.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

class OdfReader {
 public:
  OdfReader(const XmlNodes& nodes, const OdfStyles& styles, std::size_t paragraph)
      : nodes_(nodes), styles_(styles), node_(paragraph), properties_(content_.paragraph) {
    content_.paragraph.names = {.run = nodes.prefix(paragraph) + "span", .tagged_by_properties = true};
    properties_.number({}, "");  // of text in no span
  }

  ParagraphContent run() {
    content_.paragraph.at = nodes_[node_].inside;
    add_children(node_);
    match_ranges(content_.inlines, names_);
    return std::move(content_);
  }

 private:
  bool is_text(std::size_t n, std::initializer_list<std::string_view> names) const {
    return nodes_[n].kind == XmlNode::element && nodes_[n].space == Vocabulary::odf_text &&
           std::find(names.begin(), names.end(), nodes_.local(n)) != names.end();
  }
  void add(Inline part, std::string name = {}) {
    part.within_run = span_ > 0, part.properties = span_;
    content_.inlines.push_back(std::move(part));
    names_.push_back(std::move(name));
  }

  void add_children(std::size_t parent) {
    for (std::size_t n = parent + 1; n < nodes_[parent].next; n = nodes_[n].next) {
      const XmlNode& node = nodes_[n];
      if (nodes_.is(n, Vocabulary::odf_office, "event-listeners")) continue;
      if (node.kind == XmlNode::text || node.kind == XmlNode::cdata) {
        add({.kind = Inline::text, .words = nodes_.text(n)});
      } else if (is_run(n)) {
        span_ =
            properties_.number({node.at.begin, node.inside.begin}, styles_.look_of(nodes_.attribute(n, "style-name")));
        add_children(n);
        span_ = 0;
      } else if (is_pair(n)) {
        if (node.inside.empty()) {
          add({.kind = Inline::point, .raw = node.at});
          continue;
        }
        const std::size_t listeners = nodes_.child(n, "event-listeners");  // which have to come first
        add({.kind = Inline::open,
             .raw = {node.at.begin, listeners != 0 ? nodes_[listeners].at.end : node.inside.begin}});
        add_children(n);
        add({.kind = Inline::close, .raw = {node.inside.end, node.at.end}});
      } else if (is_text(n, {"tab"})) {
        add({.kind = Inline::boundary, .raw = node.at});
      } else if (is_text(n, {"line-break"}) || (is_text(n, {"s"}) && !ends_blank())) {
        add({.kind = Inline::line_break, .raw = node.at});  // <text:s> is blanks, which often follow one in the text
      } else if (begins_range(n)) {
        add({.kind = Inline::open, .raw = node.at}, range_name(n));
        content_.others.push_back(n);  // a comment's text
      } else if (ends_range(n)) {
        add({.kind = Inline::close, .raw = node.at}, range_name(n));
      } else {
        add_other(n);
      }
    }
  }
  bool is_pair(std::size_t n) const { return is_text(n, {"span", "a", "meta", "meta-field"}); }
  // A span that only gives its text a style, so it may be written twice, or not at all.
  bool is_run(std::size_t n) const {
    const XmlNode& node = nodes_[n];
    const std::string& tag = content_.paragraph.names.run;
    if (!is_text(n, {"span"}) || node.inside.empty() || node.tag.name() != tag) return false;
    const auto attributes = node.tag.attributes();
    const bool only_style =
        std::distance(attributes.begin(), attributes.end()) == 1 && !nodes_.attribute(n, "style-name").empty();
    if (!only_style) return false;
    for (std::size_t c = n + 1; c < node.next; c = nodes_[c].next)
      if (is_pair(c) || begins_range(c) || ends_range(c)) return false;
    return true;
  }
  bool ends_blank() const {
    const auto before = std::find_if(content_.inlines.rbegin(), content_.inlines.rend(),
                                     [](const Inline& x) { return x.kind != Inline::point; });
    return before != content_.inlines.rend() && before->kind == Inline::text && is_blank(before->words.back());
  }
  // Ranges of bookmarks, references, changes, entries of indexes and comments.
  bool begins_range(std::size_t n) const {
    if (nodes_[n].kind != XmlNode::element) return false;
    if (nodes_.is(n, Vocabulary::odf_office, "annotation")) return !nodes_.attribute(n, "name").empty();
    return nodes_[n].space == Vocabulary::odf_text && nodes_.local(n).ends_with("-start");
  }
  bool ends_range(std::size_t n) const {
    if (nodes_[n].kind != XmlNode::element) return false;
    return nodes_.is(n, Vocabulary::odf_office, "annotation-end") ||
           (nodes_[n].space == Vocabulary::odf_text && nodes_.local(n).ends_with("-end"));
  }
  std::string range_name(std::size_t n) const {
    std::string_view kind = nodes_.local(n);
    for (const std::string_view end : {"-start", "-end"})
      if (kind.ends_with(end)) kind.remove_suffix(end.size());
    std::string name = std::string(kind) + ":";
    for (const char* const attribute : {"name", "change-id", "id"})
      if (const std::string value = nodes_.attribute(n, attribute); !value.empty()) return name + value;
    return name;
  }

  // Fields are fixed words; notes, frames, changes and comments are points.
  void add_other(std::size_t n) {
    const bool is_field = nodes_[n].kind == XmlNode::element && nodes_[n].space == Vocabulary::odf_text &&
                          nodes_[n].next - n <= most_field_parts && !has_paragraph(n);
    const std::size_t base = is_text(n, {"ruby"}) ? nodes_.child(n, "ruby-base") : n;
    const std::string words = is_field && base != 0 ? nodes_.text(base) : "";
    const bool fits = !is_blank(words) && words.size() <= longest_fixed_words;
    add({.kind = fits ? Inline::fixed : Inline::point, .raw = nodes_[n].at, .words = fits ? words : ""});
    content_.others.push_back(n);
  }
  bool has_paragraph(std::size_t n) const {
    for (std::size_t c = n + 1; c < nodes_[n].next; ++c)
      if (is_text(c, {"p", "h"})) return true;
    return false;
  }

  const XmlNodes& nodes_;
  const OdfStyles& styles_;
  std::size_t node_;
  ParagraphContent content_;
  RunProperties properties_;
  std::size_t span_ = 0;            ///< the properties of the run around the nodes that are read; 0: none
  std::vector<std::string> names_;  ///< of each inline, for match_ranges()
};

}  // namespace

ParagraphContent odf_paragraph(const XmlNodes& nodes, const OdfStyles& styles, std::size_t paragraph) {
  return OdfReader(nodes, styles, paragraph).run();
}

}  // namespace tril::document
