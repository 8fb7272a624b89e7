#include "document/markup/html.h"

#include <algorithm>
#include <optional>

#include "document/markup/html_reader.h"
#include "document/segments/character_references.h"
#include "document/segments/segment_builder.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

class HtmlReader {
 public:
  HtmlReader(TextDocument& document, const HtmlTags& tags, Range part)
      : html_(std::string_view(document.bytes()).substr(0, part.end)),
        tags_(tags),
        builder_(document, {LineEnds::break_lines, Worth::letters, &escape_markup}),
        at_(part.begin),
        text_(part.begin) {}

  void run() {
    while (at_ < html_.size()) {
      if (const auto tag = tags_.at(at_))
        take(*tag);
      else if (html_[at_] != '&' || !take_reference())
        ++at_;
    }
    flush();
    builder_.end();
  }

 private:
  // Plain text up to the current place.
  void flush() {
    if (text_ < at_) builder_.plain({text_, std::min(at_, html_.size())});
    text_ = at_;
  }
  Range take_bytes(std::size_t size) {
    flush();
    const Range raw{at_, std::min(at_ + size, html_.size())};
    text_ = at_ = raw.end;
    return raw;
  }

  bool take_reference() {
    const std::string_view rest = html_.substr(at_);
    if (const auto known = character_reference(rest)) {
      builder_.character(take_bytes(known->bytes), known->text);
      return true;
    }
    const std::size_t other = other_reference(rest);
    if (other > 0) builder_.point(take_bytes(other));
    return other > 0;
  }

  void take(const HtmlTag& tag) {
    if (builder_.is_full()) flush(), builder_.end();
    if (tag.name.empty()) return builder_.point(take_bytes(tag.size));
    const bool opens = !tag.closing && !tag.alone && !is_void_element(tag.name);
    const bool code = is_code_element(tag.name);
    if (opens && (tag.kept || code)) {
      const Range element = tags_.element(at_, tag);
      const bool fits = is_inline_element(tag.name) || code;
      const std::string text = fits ? tags_.text_of(element) : "";
      const Range raw = take_bytes(element.size());
      if (fits && text.size() <= longest_fixed_words && text.find('\n') == std::string::npos)
        return builder_.fixed(raw, text, false);
      return builder_.end();
    }
    if (opens && is_one_of(tag.name, {"script", "style", "svg", "math"}))
      return builder_.point(take_bytes(tags_.element(at_, tag).size()));
    if (opens && is_one_of(tag.name, {"pre", "textarea", "iframe", "object"})) {
      take_bytes(tags_.element(at_, tag).size());
      return builder_.end();
    }
    const Range raw = take_bytes(tag.size);
    if (is_inline_element(tag.name)) {
      if (tag.alone) return builder_.point(raw);
      return tag.closing ? builder_.close(raw, tag.name) : builder_.open(raw, tag.name);
    }
    if (code || tag.name == "img" || tag.name == "wbr") return builder_.point(raw);
    builder_.end();
  }

  static bool is_one_of(const std::string& name, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  std::string_view html_;
  const HtmlTags& tags_;
  SegmentBuilder builder_;
  std::size_t at_, text_;  ///< the current place, and where text begins that has not been added
};

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string s;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    c == '&' ? s += "&amp;" : c == '<' ? s += "&lt;" : c == '>' ? s += "&gt;" : s += control ? ' ' : c;
  }
  return s;
}

std::string escape_markup(std::string_view text, const Slot& slot) {
  return escape_each(text, slot, [](std::string_view c, std::string_view) { return html_escaped(c); });
}

std::string html_unescaped(std::string_view text) {
  std::string s;
  for (std::size_t at = 0; at < text.size();) {
    const auto reference = text[at] == '&' ? character_reference(text.substr(at)) : std::nullopt;
    s += reference ? reference->text : std::string(1, text[at]);
    at += reference ? reference->bytes : 1;
  }
  return s;
}

void add_html(TextDocument& document, const HtmlTags& tags, Range part) {
  HtmlReader(document, tags, part).run();
}

std::unique_ptr<Document> read_html(std::string html) {
  auto document = std::make_unique<TextDocument>(std::move(html));
  add_html(*document, HtmlTags(document->bytes()), {0, document->bytes().size()});
  return document;
}

}  // namespace tril::document
