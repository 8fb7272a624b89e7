#include "document/xml/xml_markup.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "document/markup/html.h"
#include "document/markup/html_reader.h"
#include "document/segments/character_references.h"
#include "document/segments/segment_builder.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

constexpr std::size_t no_element = static_cast<std::size_t>(-1);

// A tag, or anything else between < and >.
struct XmlPiece {
  enum Kind : std::uint8_t { open, close, alone, other } kind;
  Range raw;
  std::string_view name;
  std::size_t match = 0;            ///< of an opening tag the number of its closing tag, and reversed
  std::size_t parent = no_element;  ///< the number of the opening tag around it
  bool has_words = false;           ///< of an opening tag: words stand directly in the element
  bool within_text = false;         ///< it does not divide the text
};

class XmlPieces {
 public:
  XmlPieces(std::string_view xml, const XmlRules& rules, const std::string& where) : xml_(xml), where_(where) {
    find();
    for (XmlPiece& p : pieces) p.within_text = is_within_text(p, rules);
  }

  std::vector<XmlPiece> pieces;

 private:
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
    fail_usage(where_, fmt::format("is not well-formed XML: {} at byte {}", what, at + 1),
               "write & and < as &amp; and &lt;, and close every element");
  }

  void find() {
    std::vector<std::size_t> open;
    const auto words = [&](Range text) {
      if (is_blank(xml_.substr(text.begin, text.size()))) return;
      (open.empty() ? has_words_ : pieces[open.back()].has_words) = true;
    };
    std::size_t text = 0;
    for (std::size_t at = xml_.find('<'); at != std::string_view::npos; at = xml_.find('<', text)) {
      words({text, at});
      XmlPiece p = piece_at(at);
      text = p.raw.end;
      p.parent = open.empty() ? no_element : open.back();
      if (p.kind == XmlPiece::close) {
        if (open.empty()) fail_at(at, fmt::format("</{}> closes no element", printable(p.name, 40)));
        XmlPiece& first = pieces[open.back()];
        if (first.name != p.name)
          fail_at(at, fmt::format("</{}> closes <{}>", printable(p.name, 40), printable(first.name, 40)));
        p.match = open.back(), p.parent = first.parent, first.match = pieces.size();
        open.pop_back();
      } else if (p.kind == XmlPiece::open) {
        open.push_back(pieces.size());
      }
      pieces.push_back(p);
    }
    words({text, xml_.size()});
    if (!open.empty())
      fail_at(pieces[open.back()].raw.begin,
              fmt::format("<{}> is not closed", printable(pieces[open.back()].name, 40)));
  }

  XmlPiece piece_at(std::size_t at) const {
    const auto up_to = [&](std::string_view end, std::size_t from) {
      const std::size_t found = xml_.find(end, at + from);
      if (found == std::string_view::npos) fail_at(at, fmt::format("an unclosed {}", xml_.substr(at, from)));
      return XmlPiece{XmlPiece::other, {at, found + end.size()}, {}};
    };
    const std::string_view rest = xml_.substr(at);
    if (rest.starts_with("<!--")) return up_to("-->", 4);
    if (rest.starts_with("<![CDATA[")) return up_to("]]>", 9);
    if (rest.starts_with("<?")) return up_to("?>", 2);
    if (rest.starts_with("<!")) return up_to(">", 2);
    const bool closes = rest.starts_with("</");
    const std::size_t name = at + (closes ? 2 : 1);
    std::size_t end = name;
    while (end < xml_.size() && !is_blank(xml_[end]) && xml_[end] != '>' && xml_[end] != '/' && xml_[end] != '<') ++end;
    if (end == name) fail_at(at, "a \"<\" without the name of an element");
    const std::string_view called = xml_.substr(name, end - name);
    for (char quote = 0; end < xml_.size(); ++end) {
      const char c = xml_[end];
      if (quote != 0)
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = c;
      else if (c == '>' || c == '<')
        break;
    }
    if (end == xml_.size() || xml_[end] == '<')
      fail_at(at, fmt::format("the tag of {} is not closed", printable(called, 40)));
    const bool alone = xml_[end - 1] == '/';
    return {closes ? XmlPiece::close : alone ? XmlPiece::alone : XmlPiece::open, {at, end + 1}, called};
  }

  static bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  // Parents come before their children, so theirs is known.
  bool is_within_text(const XmlPiece& p, const XmlRules& rules) const {
    if (p.kind == XmlPiece::close) return pieces[p.match].within_text;
    if (p.kind == XmlPiece::other || is_one_of(rules.non_splitting, p.name)) return true;
    if (is_one_of(rules.splitting, p.name)) return false;
    if (!rules.outline) return true;
    if (p.parent == no_element) return has_words_;
    return pieces[p.parent].has_words || pieces[p.parent].within_text;
  }

  std::string_view xml_;
  const std::string& where_;
  bool has_words_ = false;  ///< outside of all elements
};

class XmlMarkupReader {
 public:
  XmlMarkupReader(TextDocument& document, const XmlRules& rules, const std::string& where)
      : xml_(document.bytes()),
        rules_(rules),
        tags_(xml_, rules, where),
        builder_(document, {LineEnds::break_lines, Worth::letters, &escape_markup}) {}

  void run() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < tags_.pieces.size(); ++i) {
      const XmlPiece& p = tags_.pieces[i];
      add_text({at, p.raw.begin});
      if (builder_.is_full()) builder_.end();
      if (p.kind == XmlPiece::open && is_ignored(p)) {
        i = p.match;
        at = tags_.pieces[i].raw.end;
        add_ignored(p, {p.raw.begin, at});
        continue;
      }
      add(p);
      at = p.raw.end;
    }
    add_text({at, xml_.size()});
    builder_.end();
  }

 private:
  bool is_ignored(const XmlPiece& p) const {
    return std::find(rules_.ignored.begin(), rules_.ignored.end(), p.name) != rules_.ignored.end();
  }

  void add(const XmlPiece& p) {
    if (!p.within_text) return builder_.end();
    switch (p.kind) {
      case XmlPiece::open:
        return builder_.open(p.raw, std::string(p.name));
      case XmlPiece::close:
        return builder_.close(p.raw, p.name);
      default:
        return builder_.point(p.raw);
    }
  }

  // An element that stays: fixed words of a sentence, or the end of a segment.
  void add_ignored(const XmlPiece& first, Range element) {
    if (!first.within_text) return builder_.end();
    const std::string text = text_of(element);
    if (text.size() > longest_fixed_words || text.find('\n') != std::string::npos) return builder_.end();
    builder_.fixed(element, text, false);
  }

  std::string text_of(Range element) const {
    std::string text;
    bool tag = false;
    for (std::size_t at = element.begin; at < element.end && text.size() <= longest_fixed_words; ++at) {
      if (xml_[at] == '<') tag = true;
      if (!tag) text += xml_[at];
      if (xml_[at] == '>') tag = false;
    }
    return html_unescaped(text);
  }

  // Text with references.
  void add_text(Range text) {
    std::size_t begin = text.begin;
    for (std::size_t at = begin; at < text.end;) {
      const std::size_t size = xml_[at] == '&' ? reference(at, text.end) : 0;
      if (size == 0) {
        ++at;
        continue;
      }
      if (begin < at) builder_.plain({begin, at});
      const Range raw{at, at + size};
      if (const auto known = known_reference(raw))
        builder_.character(raw, *known);
      else
        builder_.point(raw);
      begin = at = raw.end;
    }
    if (begin < text.end) builder_.plain({begin, text.end});
  }

  // The size of a reference at a byte; 0: there is none.
  std::size_t reference(std::size_t at, std::size_t end) const {
    std::size_t last = at + 1;
    while (last < end && last - at < 64 && xml_[last] != ';' && xml_[last] != '&' && !is_blank(xml_[last])) ++last;
    return last < end && xml_[last] == ';' && last > at + 1 ? last + 1 - at : 0;
  }

  // The characters of a reference that needs no declaration.
  std::optional<std::string> known_reference(Range raw) const {
    const std::string_view text = xml_.substr(raw.begin, raw.size());
    const bool is_xml = text[1] == '#' || text == "&amp;" || text == "&lt;" || text == "&gt;" || text == "&quot;";
    if (text == "&apos;") return "'";
    const auto known = is_xml ? character_reference(text) : std::nullopt;
    return known && known->bytes == raw.size() ? std::optional<std::string>(known->text) : std::nullopt;
  }

  std::string_view xml_;
  const XmlRules& rules_;
  XmlPieces tags_;
  SegmentBuilder builder_;
};

}  // namespace

std::unique_ptr<Document> read_xml_markup(std::string xml, const XmlRules& rules, const std::string& where) {
  auto document = std::make_unique<TextDocument>(std::move(xml));
  XmlMarkupReader(*document, rules, where).run();
  return document;
}

}  // namespace tril::document
