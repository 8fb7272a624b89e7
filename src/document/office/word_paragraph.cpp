#include <algorithm>
#include <optional>

#include "document/office/paragraph_content.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

bool is_any(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// A part of a field that is written as several runs: <w:fldChar>, or its code.
enum class FieldPart : std::uint8_t { none, begin, code, separate, end };

class WordReader {
 public:
  WordReader(const XmlNodes& nodes, std::size_t paragraph)
      : nodes_(nodes), node_(paragraph), properties_(content_.paragraph) {}

  ParagraphContent run() {
    const std::string prefix = nodes_.prefix(node_);
    content_.paragraph.names = {prefix + "r", prefix + "t"};
    content_.paragraph.at = nodes_[node_].inside;
    if (const std::size_t format = nodes_.child(node_, "pPr")) content_.paragraph.at.begin = nodes_[format].at.end;
    add_children(node_);
    join_fields();
    match_ranges(content_.inlines, names_);
    return std::move(content_);
  }

 private:
  bool is_word(std::size_t n, std::initializer_list<std::string_view> names) const {
    return nodes_[n].kind == XmlNode::element && nodes_[n].space == Vocabulary::word && is_any(nodes_.local(n), names);
  }

  void add(Inline part, std::string name = {}, FieldPart field = FieldPart::none) {
    content_.inlines.push_back(std::move(part));
    names_.push_back(std::move(name));
    fields_.push_back(field);
  }
  void keep(std::size_t n) { content_.others.push_back(n); }

  // The tag of a pair, from the beginning of `n` to the content of `inner`, and what is in it. Its properties have to come first.
  void add_pair(std::size_t n, std::size_t inner) {
    std::size_t begin = nodes_[inner].inside.begin;
    for (const char* const name : {"smartTagPr", "customXmlPr"})
      if (const std::size_t first = nodes_.child(inner, name)) begin = nodes_[first].at.end;
    add({.kind = Inline::open, .raw = {nodes_[n].at.begin, begin}});
    add_children(inner);
    add({.kind = Inline::close, .raw = {nodes_[inner].inside.end, nodes_[n].at.end}});
  }

  void add_children(std::size_t parent) {
    for (std::size_t n = parent + 1; n < nodes_[parent].next; n = nodes_[n].next) {
      if (nodes_[n].kind != XmlNode::element || is_word(n, {"pPr", "smartTagPr", "customXmlPr", "proofErr"})) continue;
      if (is_word(n, {"r"})) {
        add_run(n);
      } else if (is_word(n, {"hyperlink", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo"})) {
        add_pair(n, n);
      } else if (const std::size_t inner = is_word(n, {"sdt"}) ? nodes_.child(n, "sdtContent") : 0) {
        add_pair(n, inner);
      } else if (is_word(n, {"fldSimple"})) {
        add_fixed(n, short_text(n));
      } else if (ends_range(n, "Start")) {
        add({.kind = Inline::open, .raw = nodes_[n].at}, range_name(n, "Start"));
      } else if (ends_range(n, "End")) {
        add({.kind = Inline::close, .raw = nodes_[n].at}, range_name(n, "End"));
      } else {
        add({.kind = Inline::point, .raw = nodes_[n].at});
        keep(n);
      }
    }
  }
  // Whether it is this end of a range: of a bookmark, a comment, a permission, moved text or a change of custom XML.
  bool ends_range(std::size_t n, std::string_view end) const {
    const std::string_view name = nodes_.local(n);
    return nodes_[n].space == Vocabulary::word && name.ends_with(end) &&
           (name.ends_with("Range" + std::string(end)) || name.starts_with("bookmark") || name.starts_with("perm"));
  }
  std::string range_name(std::size_t n, std::string_view end) const {
    const std::string_view name = nodes_.local(n);
    return std::string(name.substr(0, name.size() - end.size())) + ":" + nodes_.attribute(n, "id");
  }

  // The text of a node; "" if it has many parts, so that nested ones take linear time.
  std::string short_text(std::size_t n) const { return nodes_[n].next - n > most_field_parts ? "" : nodes_.text(n); }

  void add_fixed(std::size_t n, const std::string& words) {
    const bool fits = !is_blank(words) && words.size() <= longest_fixed_words;
    add({.kind = fits ? Inline::fixed : Inline::point, .raw = nodes_[n].at, .words = fits ? words : ""});
    keep(n);
  }

  std::size_t properties_of(std::size_t run) {
    const std::size_t format = nodes_.child(run, "rPr");
    if (format == 0) return properties_.number({}, "");
    std::string key;
    for (std::size_t n = format + 1; n < nodes_[format].next; n = nodes_[n].next) {
      if (nodes_[n].kind != XmlNode::element || is_word(n, {"lang", "noProof"})) continue;
      const auto attributes = nodes_[n].tag.attributes();
      const bool only_hint = is_word(n, {"rFonts"}) && std::distance(attributes.begin(), attributes.end()) == 1 &&
                             !nodes_.attribute(n, "hint").empty();
      if (!only_hint) key += nodes_.bytes().substr(nodes_[n].at.begin, nodes_[n].at.size());
    }
    return properties_.number(nodes_[format].at, key);
  }

  void add_run(std::size_t run) {
    const std::size_t properties = properties_of(run);
    std::vector<std::size_t> parts;
    for (std::size_t n = run + 1; n < nodes_[run].next; n = nodes_[n].next)
      if (nodes_[n].kind == XmlNode::element && !is_word(n, {"rPr", "lastRenderedPageBreak"})) parts.push_back(n);
    for (const std::size_t n : parts) {
      if (is_word(n, {"t"})) {
        for (Inline& part : tabbed_text(nodes_.text(n), properties)) add(std::move(part));
        continue;
      }
      if (is_word(n, {"noBreakHyphen"})) {
        add({.kind = Inline::text, .properties = properties, .words = "\u2011"});
        continue;
      }
      Inline part{.kind = Inline::point, .raw = nodes_[n].at, .within_run = true, .properties = properties};
      if (is_word(n, {"br", "cr"}) && is_any(nodes_.attribute(n, "type"), {"", "textWrapping"})) {
        part.kind = Inline::line_break;
      } else {
        if (is_word(n, {"tab", "ptab", "br"})) part.kind = Inline::boundary;
        if (parts.size() == 1) part.raw = nodes_[run].at, part.within_run = false;  // the run as it is
        keep(n);
      }
      if (is_word(n, {"ruby"})) set_ruby(part, n);
      add(std::move(part), "", field_part(n));
    }
  }

  // The text of a ruby annotation's base stays, and so does the annotation.
  void set_ruby(Inline& part, std::size_t n) const {
    const std::size_t base = nodes_.child(n, "rubyBase");
    const std::string words = base != 0 ? short_text(base) : "";
    if (is_blank(words) || words.size() > longest_fixed_words) return;
    part.kind = Inline::fixed, part.words = words;
  }

  FieldPart field_part(std::size_t n) {
    if (is_word(n, {"instrText"})) {
      codes_.emplace_back(content_.inlines.size(), nodes_.text(n));
      return FieldPart::code;
    }
    if (!is_word(n, {"fldChar"})) return FieldPart::none;
    const std::string type = nodes_.attribute(n, "fldCharType");
    return type == "begin"      ? FieldPart::begin
           : type == "separate" ? FieldPart::separate
           : type == "end"      ? FieldPart::end
                                : FieldPart::none;
  }

  // A field's parts: numbers of inlines.
  struct Field {
    std::size_t begin;
    std::optional<std::size_t> separate = {};
    std::size_t pairs;  ///< that are open around its beginning
  };

  // Fields that begin and end within the same tags become fixed words, or pairs if they are hyperlinks. The parts of other fields
  // must keep their order: they end a segment.
  void join_fields() {
    std::vector<Inline>& all = content_.inlines;
    std::vector<Field> open;
    std::vector<bool> dead(all.size(), false);
    std::vector<std::size_t> pairs;  // open tags
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (names_[i].empty() && all[i].kind == Inline::open) pairs.push_back(i);
      if (names_[i].empty() && all[i].kind == Inline::close) {
        pairs.pop_back();
        while (!open.empty() && open.back().pairs > pairs.size()) open.pop_back();  // it ends elsewhere
      }
      if (fields_[i] == FieldPart::begin) open.push_back({.begin = i, .pairs = pairs.size()});
      if (fields_[i] == FieldPart::separate && !open.empty() && open.back().pairs == pairs.size())
        open.back().separate = i;
      if (fields_[i] != FieldPart::end || open.empty()) continue;
      const Field field = open.back();
      open.pop_back();
      if (field.pairs == pairs.size()) join(field, i, dead);
    }
    std::vector<Inline> left;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (dead[i]) continue;
      if (fields_[i] != FieldPart::none) all[i].kind = Inline::boundary;
      left.push_back(std::move(all[i]));
      names.push_back(std::move(names_[i]));
    }
    all = std::move(left), names_ = std::move(names);
  }

  std::string code_of(std::size_t begin, std::size_t end) const {
    std::string code;
    const auto behind = [](const auto& c, std::size_t at) { return c.first < at; };
    for (auto c = std::lower_bound(codes_.begin(), codes_.end(), begin, behind); c != codes_.end() && c->first < end;
         ++c)
      code += c->second;
    return code.substr(std::min(code.find_first_not_of(" \t\n"), code.size()));
  }

  void join(const Field& field, std::size_t end, std::vector<bool>& dead) {
    std::vector<Inline>& all = content_.inlines;
    const std::size_t result = field.separate.value_or(end);
    if (end - field.begin > most_field_parts) return;
    if (all[field.begin].within_run || all[result].within_run || all[end].within_run) return;
    const bool link = field.separate && code_of(field.begin, result).starts_with("HYPERLINK");
    fields_[field.begin] = fields_[end] = FieldPart::none;
    std::string words;
    bool is_short = true;
    for (std::size_t i = result + 1; i < end; ++i) {
      if (dead[i]) continue;
      words += all[i].words;
      if (all[i].kind == Inline::boundary) is_short = false;
    }
    if (link) {
      for (std::size_t i = field.begin + 1; i <= result; ++i) dead[i] = true;
      all[field.begin].kind = Inline::open, all[field.begin].raw.end = all[result].raw.end;
      all[end].kind = Inline::close;
      return;
    }
    const bool fits = is_short && !is_blank(words) && words.size() <= longest_fixed_words;
    for (std::size_t i = field.begin + 1; i <= end; ++i) dead[i] = true;
    Inline& whole = all[field.begin];
    whole.kind = fits ? Inline::fixed : Inline::point;
    whole.raw.end = all[end].raw.end;
    whole.words = fits ? words : "";
  }

  const XmlNodes& nodes_;
  std::size_t node_;
  ParagraphContent content_;
  RunProperties properties_;
  std::vector<std::string> names_;  ///< of each inline, for match_ranges()
  std::vector<FieldPart> fields_;   ///< of each inline
  std::vector<std::pair<std::size_t, std::string>> codes_;
};

}  // namespace

ParagraphContent word_paragraph(const XmlNodes& nodes, std::size_t paragraph) {
  return WordReader(nodes, paragraph).run();
}

}  // namespace tril::document
