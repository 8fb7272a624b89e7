// Finds the translatable text in HTML.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>

#include "serve/api/character_references.h"
#include "serve/api/text_pieces.h"
#include "serve/http/http.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

struct Tag {
  std::string name;  ///< lower case; empty: a comment or declaration
  bool closing = false, alone = false, kept = false;
  std::size_t size = 0;
};

// The ends of tags: for each byte outside of quotes, the next '>' that is not in quotes. Computed once from end to
// start, so that a text of many unclosed '<' takes no longer than others.
class TagEnds {
 public:
  static constexpr std::size_t none = std::string_view::npos;
  explicit TagEnds(std::string_view html) : unquoted_(html.size() + 1, none) {
    std::size_t in_single = none, in_double = none;  // likewise, for a byte within quotes
    for (std::size_t at = html.size(); at-- > 0;) {
      const std::size_t outside = unquoted_[at + 1];
      unquoted_[at] = html[at] == '>' ? at : html[at] == '"' ? in_double : html[at] == '\'' ? in_single : outside;
      if (html[at] == '"') in_double = outside;
      if (html[at] == '\'') in_single = outside;
    }
  }
  std::size_t of(std::size_t at) const { return unquoted_[at]; }

 private:
  std::vector<std::size_t> unquoted_;
};

// An HTML text and the ends of its tags.
struct Html {
  explicit Html(std::string_view t) : text(t), ends(t) {}
  std::string_view text;
  TagEnds ends;
};

// Whether attributes, in lower case, include translate=no, with any quotes and spaces.
bool says_translate_no(std::string_view attributes) {
  constexpr std::string_view name = "translate", no = "no";
  for (std::size_t at = attributes.find(name); at != std::string_view::npos; at = attributes.find(name, at + 1)) {
    std::string_view rest = trim(attributes.substr(at + name.size()));
    if (at == 0 || !is_space(attributes[at - 1]) || !rest.starts_with('=')) continue;
    rest = trim(rest.substr(1));
    const char quote = rest.starts_with('"') || rest.starts_with('\'') ? rest[0] : ' ';
    if (quote != ' ') rest.remove_prefix(1);
    if (rest.starts_with(no) && (rest.size() == no.size() || rest[2] == quote || (quote == ' ' && is_space(rest[2]))))
      return true;
  }
  return false;
}

// The tag at byte `begin`, if there is one.
std::optional<Tag> tag_at(const Html& html, std::size_t begin) {
  const std::string_view text = html.text;
  if (begin + 3 > text.size() || text[begin] != '<') return std::nullopt;
  Tag tag;
  const auto up_to = [&](std::size_t end, std::size_t length) {
    return (end == std::string_view::npos ? text.size() : end + length) - begin;
  };
  if (text.substr(begin, 4) == "<!--") {
    tag.size = up_to(text.find("-->", begin + 4), 3);
    return tag;
  }
  std::size_t at = begin + 1;
  if (text[at] == '!' || text[at] == '?') {
    tag.size = up_to(text.find('>', begin), 1);
    return tag;
  }
  if (text[at] == '/') tag.closing = true, ++at;
  if (!std::isalpha(static_cast<unsigned char>(text[at]))) return std::nullopt;
  const std::size_t end = html.ends.of(at);
  if (end == TagEnds::none) return std::nullopt;  // unclosed: it is text
  const std::size_t name = at;
  while (at < end && !is_space(text[at]) && text[at] != '/') ++at;
  tag.name = lower(text.substr(name, at - name));
  const std::string inside = lower(text.substr(at, end - at));
  tag.alone = !inside.empty() && inside.back() == '/';
  tag.kept = says_translate_no(inside) || inside.find("notranslate") != std::string::npos;
  tag.size = end + 1 - begin;
  return tag;
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
// Elements without an end tag.
bool is_void(const std::string& name) {
  return is_one_of(
      name, {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"});
}

// The size of the element whose opening tag is `first`, at byte `begin`.
std::size_t element_size(const Html& html, std::size_t begin, const Tag& first) {
  const std::string_view text = html.text;
  const bool raw = is_one_of(first.name, {"script", "style"});  // their contents have no tags except their own end
  int depth = 1;
  for (std::size_t at = text.find('<', begin + first.size); at != std::string_view::npos; at = text.find('<', at)) {
    const bool may_end = text.substr(at, 2) == "</" && lower(text.substr(at + 2, first.name.size())) == first.name;
    const auto tag = raw && !may_end ? std::nullopt : tag_at(html, at);
    at += tag ? tag->size : 1;
    if (!tag || tag->name != first.name || tag->alone) continue;
    depth += tag->closing ? -1 : 1;
    if (depth == 0) return at - begin;
  }
  return text.size() - begin;
}

// Text with references replaced by characters, and the origin of each byte.
struct Unescaped {
  explicit Unescaped(std::string_view html) {
    for (std::size_t i = 0; i < html.size();) {
      const auto reference = html[i] == '&' ? character_reference(html.substr(i)) : std::nullopt;
      text += reference ? reference->text : std::string(1, html[i]);
      from.resize(text.size(), static_cast<std::uint32_t>(i));
      i += reference ? reference->bytes : 1;
    }
    from.push_back(static_cast<std::uint32_t>(html.size()));
  }
  std::string text;
  std::vector<std::uint32_t> from;  ///< for each byte of the text, and its end, the position in the HTML
};

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string s;
  for (const char c : text) c == '&' ? s += "&amp;" : c == '<' ? s += "&lt;" : c == '>' ? s += "&gt;" : s += c;
  return s;
}

std::string html_unescaped(std::string_view text) {
  return Unescaped(text).text;
}

std::string on_one_line(std::string_view text) {
  std::string s;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_space(text[end])) ++end;
    const std::string_view space = text.substr(i, end - i);
    s += space.find_first_of("\r\n") != std::string_view::npos ? " " : space;
    i = end;
    if (i < text.size()) s += text[i++];
  }
  return s;
}

std::vector<TextPiece> pieces_of_html(std::string_view whole_text, Split split) {
  const Html html(whole_text);
  std::vector<TextPiece> pieces;
  const auto keep = [&](std::string_view markup) {
    if (!markup.empty()) pieces.push_back({std::string(markup), false});
  };
  std::size_t text_begin = 0;
  const auto flush = [&](std::size_t end) {
    const std::string_view raw = whole_text.substr(text_begin, end - text_begin);
    const Unescaped plain(raw);
    cut_line(plain.text, split == Split::sentences, [&](std::string_view part, bool translated) {
      if (translated) return pieces.push_back({std::string(part), true});
      const std::size_t begin = offset_of(part, plain.text);
      keep(raw.substr(plain.from[begin], plain.from[begin + part.size()] - plain.from[begin]));
    });
  };
  for (std::size_t at = 0; at < whole_text.size();) {
    const bool reference = whole_text[at] == '&';
    if (const auto known = reference ? character_reference(whole_text.substr(at)) : std::nullopt) {
      at += known->bytes;
      continue;
    }
    const auto tag = tag_at(html, at);
    const std::size_t other = reference ? other_reference(whole_text.substr(at)) : 0;
    if (!tag && other == 0) {
      ++at;
      continue;
    }
    flush(at);
    const bool whole = tag && !tag->closing && !tag->alone && !tag->name.empty() && !is_void(tag->name) &&
                       (tag->kept || is_one_of(tag->name, {"script", "style", "code", "pre", "textarea"}));
    const std::size_t size = whole ? element_size(html, at, *tag) : tag ? tag->size : other;
    keep(whole_text.substr(at, size));
    text_begin = at += size;
  }
  flush(whole_text.size());
  return pieces;
}

}  // namespace tril::serve
