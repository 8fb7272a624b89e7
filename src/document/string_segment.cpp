#include "document/string_segment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "document/html_tags.h"
#include "document/words.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

constexpr std::size_t most_shortcut_text = 60;      // bytes of a menu's entry
constexpr std::size_t longest_placeholder = 16384;  // bytes; a message of ICU is the longest
constexpr std::size_t short_placeholder = 200;      // bytes; after many brackets without an end, which would take long
constexpr std::size_t many_without_end = 64;

bool is_ascii_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_ascii_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// The bytes of a balanced {...} at the start of a text; 0: none.
std::size_t braces(std::string_view text) {
  text = text.substr(0, longest_placeholder);
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return 0;
}

// The bytes of printf's, Python's, Ruby's or Qt's placeholder at the start of a text; 0: none.
std::size_t percent(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  if (at(1) == '%') return 2;
  if (at(1) == '{') return braces(text.substr(1)) > 0 ? 1 + braces(text.substr(1)) : 0;
  std::size_t i = 1;
  if (at(i) == '(') {
    const std::size_t close = text.find(')', i);
    if (close == std::string_view::npos) return 0;
    i = close + 1;
  }
  const std::size_t digits = i;
  while (is_ascii_digit(at(i))) ++i;
  const bool numbered = i > digits;
  if (at(i) == '$') ++i;
  while (std::string_view("-+#0'").find(at(i)) != std::string_view::npos && at(i) != '\0') ++i;
  while (is_ascii_digit(at(i)) || at(i) == '*') ++i;
  if (at(i) == '.')
    for (++i; is_ascii_digit(at(i)) || at(i) == '*';) ++i;
  std::size_t size = i;
  while (std::string_view("hlLqjzt").find(at(i)) != std::string_view::npos && at(i) != '\0') ++i;
  if (std::string_view("diouxXeEfFgGaAcsSpn@").find(at(i)) != std::string_view::npos && at(i) != '\0') return i + 1;
  while (size > 0 && !is_ascii_digit(at(size - 1))) --size;
  return numbered && digits == 1 ? size : 0;  // Qt's %1
}

// The place of the only sign of a shortcut key: '&' or '_' before a letter.
std::optional<std::size_t> shortcut(std::string_view text) {
  if (text.size() > most_shortcut_text) return std::nullopt;
  std::optional<std::size_t> place;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] != '&' && text[at] != '_') continue;
    const bool before_letter = is_ascii_letter(text[at + 1]) || static_cast<unsigned char>(text[at + 1]) >= 0xc3;
    const std::size_t word_end =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#", at + 1);
    if (text[at] == '&' && word_end != std::string_view::npos && text[word_end] == ';') return std::nullopt;
    if (place || !before_letter || (text[at] == '_' && at > 0 && !is_blank(text[at - 1]))) return std::nullopt;
    place = at;
  }
  return place;
}

class StringReader {
 public:
  StringReader(std::string_view text, const std::function<std::string(std::string_view)>& escape)
      : text_(text), escape_(escape), tags_(text) {}

  Segment run() {
    const auto key = shortcut(text_);
    for (std::size_t at = 0; at < text_.size() && segment_.marks.size() < most_marks;) {
      const auto tag = text_[at] == '<' ? tags_.at(at) : std::nullopt;
      const std::size_t size = tag ? 0 : placeholder_at(at);
      if (tag) {
        take(*tag, at);
      } else if (size > 0) {
        add(MarkKind::fixed, at, size);
        segment_.marks.back().variable = true;
        segment_.text += text_.substr(at, size);
        segment_.marks.back().at.end = segment_.text.size();
      } else if (key && at == *key) {
        add(MarkKind::point, at, 1);
        segment_.marks.back().before_word = true;
      } else {
        segment_.text += text_[at];
        ++at;
        done_ = at;
        continue;
      }
      at += tag ? tag->size : std::max<std::size_t>(size, 1);
      done_ = at;
    }
    segment_.text += text_.substr(done_);
    close_rest();
    return std::move(segment_);
  }

 private:
  struct Open {
    std::size_t mark;
    std::string name;
  };

  // The bytes of a placeholder; 0: none. Bounds the time for brackets without an end.
  std::size_t placeholder_at(std::size_t at) {
    const std::string_view rest =
        text_.substr(at, without_end_ < many_without_end ? longest_placeholder : short_placeholder);
    const std::size_t size = placeholder_size(rest);
    if (size == 0 &&
        (rest.starts_with('{') || rest.starts_with("${") || rest.starts_with("%{") || rest.starts_with("%(")))
      ++without_end_;
    return size;
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
  HtmlTags tags_;
  Segment segment_;
  std::vector<Open> open_;
  std::size_t done_ = 0;
  std::size_t without_end_ = 0;  ///< brackets that begin no placeholder
};

}  // namespace

std::size_t placeholder_size(std::string_view text) {
  if (text.starts_with('%')) return percent(text);
  if (text.starts_with('{')) return braces(text);
  if (text.starts_with("${")) return braces(text.substr(1)) > 0 ? 1 + braces(text.substr(1)) : 0;
  return 0;
}

Segment string_segment(std::string_view text, const std::function<std::string(std::string_view)>& escape) {
  return StringReader(text, escape).run();
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
