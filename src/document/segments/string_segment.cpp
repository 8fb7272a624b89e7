#include "document/segments/string_segment.h"

#include <algorithm>

#include "unicode/characters.h"

namespace tril::document {
namespace {

class StringReader {
 public:
  StringReader(std::string_view text, const std::function<std::string(std::string_view)>& escape)
      : text_(text), escape_(escape) {}

  Segment run(ShortcutKeys shortcuts) {
    for (const StringToken& token : string_tokens(text_, shortcuts)) take(token);
    close_rest();
    return std::move(segment_);
  }

 private:
  struct Open {
    std::size_t mark;
    std::string name;
  };

  void take(const StringToken& token) {
    const Range at = token.at;
    const std::string_view text = text_.substr(at.begin, at.size());
    if (token.kind == StringToken::words || segment_.marks.size() >= most_marks) {
      segment_.text += text;
    } else if (token.kind == StringToken::tag) {
      take(token.html, at.begin);
    } else if (token.kind == StringToken::placeholder) {
      add(MarkKind::fixed, at.begin, at.size());
      segment_.marks.back().variable = true;
      segment_.text += text;
      segment_.marks.back().at.end = segment_.text.size();
    } else {
      add(MarkKind::point, at.begin, at.size());
      segment_.marks.back().before_word = true;
    }
  }

  void add(MarkKind kind, std::size_t at, std::size_t size) {
    const std::size_t place = segment_.text.size();
    segment_.marks.push_back({kind,
                              {place, place},
                              escape_(text_.substr(at, size)),
                              {},
                              open_.empty() ? -1 : static_cast<std::int32_t>(open_.back().mark)});
  }
  void take(const HtmlTag& tag, std::size_t at) {
    if (tag.name.empty() || tag.alone || is_void_element(tag.name) ||
        (!tag.closing && open_.size() + 1 >= most_nested_marks))
      return add(MarkKind::point, at, tag.size);
    if (!tag.closing) {
      add(MarkKind::pair, at, tag.size);
      open_.push_back({segment_.marks.size() - 1, tag.name});
      return;
    }
    const auto first = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& o) { return o.name == tag.name; });
    if (first == open_.rend()) return add(MarkKind::point, at, tag.size);
    while (open_.back().name != tag.name) leave(), open_.pop_back();
    Mark& m = segment_.marks[open_.back().mark];
    m.close = escape_(text_.substr(at, tag.size)), m.at.end = segment_.text.size();
    open_.pop_back();
  }
  // A tag without its counterpart is a point; what was within it is within the pair around it.
  void leave() {
    const std::size_t mark = open_.back().mark;
    Mark& m = segment_.marks[mark];
    m.kind = MarkKind::point;
    m.at.end = m.at.begin;
    for (Mark& other : segment_.marks)
      if (other.parent == static_cast<std::int32_t>(mark)) other.parent = m.parent;
  }
  void close_rest() {
    for (; !open_.empty(); open_.pop_back()) leave();
  }

  std::string_view text_;
  const std::function<std::string(std::string_view)>& escape_;
  Segment segment_;
  std::vector<Open> open_;
};

}  // namespace

Segment string_segment(std::string_view text, const std::function<std::string(std::string_view)>& escape,
                       ShortcutKeys shortcuts) {
  return StringReader(text, escape).run(shortcuts);
}

std::string escaped_controls(std::string_view text, std::string_view others) {
  constexpr std::string_view controls = "\n\r\t", letters = "nrt";
  std::string s;
  for (const char c : text) {
    const std::size_t control = controls.find(c);
    if (control != std::string_view::npos || c == '\\' || others.find(c) != std::string_view::npos) s += '\\';
    s += control != std::string_view::npos ? letters[control] : c;
  }
  return s;
}

bool is_worth_translating(const Segment& segment) {
  const CharacterKinds& kinds = CharacterKinds::table();
  std::size_t at = 0;
  const auto has_letter = [&](std::size_t end) {
    bool found = false;
    while (at < end) {
      const Character c = character_at(segment.text, at);
      found = found || (kinds(c.code) & kind_letter) != 0;
      at += c.length;
    }
    return found;
  };
  bool found = false;
  for (const Mark& m : segment.marks) {
    if (m.kind != MarkKind::fixed) continue;
    found = has_letter(m.at.begin) || found;
    at = std::max(at, m.at.end);
  }
  return has_letter(segment.text.size()) || found;
}

}  // namespace tril::document
