#include "serve/text_pieces.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "serve/http.h"
#include "text/utf8.h"

namespace tril::serve {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> starts, std::size_t& length) {
  for (const std::string_view start : starts)
    if (text.starts_with(start)) {
      length = start.size();
      return true;
    }
  return false;
}

// Behind which byte the first sentence of the line ends; its size where it is but one.
std::size_t sentence_end(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::size_t n = 0;
    if (begins_with_any(line.substr(i), {"\u3002", "\uff01", "\uff1f"}, n)) {
      i += n;
      while (begins_with_any(line.substr(i), {"\u300d", "\u300f", "\u201d", "\uff09", "\u3002", "\uff01", "\uff1f"}, n))
        i += n;
      return i;
    }
    if (line[i] != '.' && line[i] != '!' && line[i] != '?') continue;
    std::size_t end = i + 1;
    while (end < line.size() && (line[end] == '.' || line[end] == '!' || line[end] == '?')) ++end;
    while (begins_with_any(line.substr(end), {"\"", "'", ")", "]", "\u201d", "\u201c", "\u2019", "\u00bb"}, n))
      end += n;
    if (end >= line.size()) return line.size();
    if (!is_space(line[end])) {
      i = end - 1;
      continue;
    }
    const std::size_t next = line.find_first_not_of(" \t", end);
    if (next == std::string_view::npos) return line.size();
    if (std::islower(static_cast<unsigned char>(line[next]))) continue;
    if (line[i] == '.' && end == i + 1) {
      std::size_t word = i;
      while (word > 0 && !is_space(line[word - 1])) --word;
      const std::string_view before = line.substr(word, i - word);
      const bool initial = before.size() == 1 && std::isupper(static_cast<unsigned char>(before[0]));
      const bool inner = before.find('.') != std::string_view::npos;  // z.B., e.g.
      static constexpr std::array<std::string_view, 14> abbreviations{"Mr", "Mrs", "Ms", "Dr",  "Prof", "St", "Nr",
                                                                      "No", "Hr",  "Fr", "bzw", "ca",   "vs", "Jr"};
      const bool known = std::find(abbreviations.begin(), abbreviations.end(), before) != abbreviations.end();
      const bool ordinal = !before.empty() && before.size() <= 2 &&
                           std::all_of(before.begin(), before.end(), [](unsigned char c) { return std::isdigit(c); });
      if (initial || inner || known || ordinal) continue;
    }
    return end;
  }
  return line.size();
}

// The line without the white space around it is translated, a sentence at a time.
void add_line(std::string_view line, Split split, std::vector<TextPiece>& pieces) {
  const auto add = [&](std::string_view text, bool translated) {
    if (!text.empty()) pieces.push_back({std::string(text), translated});
  };
  while (!line.empty()) {
    const std::string_view rest = trim(line);
    if (rest.empty()) return add(line, false);
    const auto space = static_cast<std::size_t>(rest.data() - line.data());
    add(line.substr(0, space), false);
    line.remove_prefix(space);
    const std::size_t end = split == Split::sentences ? sentence_end(rest) : rest.size();
    add(trim(rest.substr(0, end)), true);
    line.remove_prefix(trim(rest.substr(0, end)).size());
  }
}

struct Entity {
  std::string_view name, text;
};
constexpr std::array<Entity, 46> entities{
    {{"amp", "&"},         {"lt", "<"},          {"gt", ">"},          {"quot", "\""},       {"apos", "'"},
     {"nbsp", "\u00a0"},   {"copy", "\u00a9"},   {"reg", "\u00ae"},    {"trade", "\u2122"},  {"hellip", "\u2026"},
     {"mdash", "\u2014"},  {"ndash", "\u2013"},  {"lsquo", "\u2018"},  {"rsquo", "\u2019"},  {"ldquo", "\u201c"},
     {"rdquo", "\u201d"},  {"bdquo", "\u201e"},  {"sbquo", "\u201a"},  {"laquo", "\u00ab"},  {"raquo", "\u00bb"},
     {"euro", "\u20ac"},   {"pound", "\u00a3"},  {"deg", "\u00b0"},    {"middot", "\u00b7"}, {"times", "\u00d7"},
     {"szlig", "\u00df"},  {"auml", "\u00e4"},   {"ouml", "\u00f6"},   {"uuml", "\u00fc"},   {"Auml", "\u00c4"},
     {"Ouml", "\u00d6"},   {"Uuml", "\u00dc"},   {"agrave", "\u00e0"}, {"aacute", "\u00e1"}, {"acirc", "\u00e2"},
     {"aring", "\u00e5"},  {"ccedil", "\u00e7"}, {"egrave", "\u00e8"}, {"eacute", "\u00e9"}, {"ecirc", "\u00ea"},
     {"iacute", "\u00ed"}, {"ntilde", "\u00f1"}, {"oacute", "\u00f3"}, {"oslash", "\u00f8"}, {"uacute", "\u00fa"},
     {"aelig", "\u00e6"}}};

std::string utf8_of(std::uint32_t c) {
  std::string s;
  const auto add = [&](std::uint32_t byte) { s += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  }
  return s;
}

// What "&...;" at the beginning of `text` stands for, and how long it is there.
std::optional<std::pair<std::string, std::size_t>> entity_at(std::string_view text) {
  const std::size_t end = text.substr(0, 12).find(';');
  if (end == std::string_view::npos || end < 2) return std::nullopt;
  const std::string_view name = text.substr(1, end - 1);
  if (name[0] != '#') {
    for (const Entity& e : entities)
      if (e.name == name) return std::pair(std::string(e.text), end + 1);
    return std::nullopt;
  }
  const bool hex = name.size() > 1 && (name[1] == 'x' || name[1] == 'X');
  const std::string_view digits = name.substr(hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (digits.empty() || error != std::errc() || at != digits.data() + digits.size() || code == 0 || code > 0x10ffff ||
      surrogate)
    return std::nullopt;
  return std::pair(utf8_of(code), end + 1);
}

struct Tag {
  std::string name;  ///< in small letters; empty: a comment or declaration
  bool closing = false, alone = false, kept = false;
  std::size_t size = 0;
};

// Where tags end: of each byte the next '>' behind it that is in no quotes, where the byte is in none itself. Made once, from
// the end to the beginning, so that a text of many '<' without an end costs no more than another.
class TagEnds {
 public:
  static constexpr std::size_t none = std::string_view::npos;
  explicit TagEnds(std::string_view html) : unquoted_(html.size() + 1, none) {
    std::size_t in_single = none, in_double = none;  // the same for a byte that is in quotes
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

// A text of HTML and where its tags end.
struct Html {
  explicit Html(std::string_view t) : text(t), ends(t) {}
  std::string_view text;
  TagEnds ends;
};

// Whether attributes, in small letters, have translate=no, with whatever quotes and spaces.
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

// The tag at byte `begin`, or nothing where there is none.
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
  if (end == TagEnds::none) return std::nullopt;  // never closed: it is text
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
// Elements that have no end.
bool is_void(const std::string& name) {
  return is_one_of(
      name, {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"});
}

// How long the element is whose opening tag is `first`, at byte `begin`.
std::size_t element_size(const Html& html, std::size_t begin, const Tag& first) {
  const std::string_view text = html.text;
  const bool raw = is_one_of(first.name, {"script", "style"});  // nothing in them is a tag but their own end
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

}  // namespace

std::vector<TextPiece> pieces_of_text(std::string_view text, Split split) {
  if (split == Split::none) return {{std::string(text), !trim(text).empty()}};
  std::vector<TextPiece> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(text.substr(0, end), split, pieces);
    if (end < text.size()) pieces.push_back({"\n", false});
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return pieces;
}

std::string html_escaped(std::string_view text) {
  std::string s;
  for (const char c : text) c == '&' ? s += "&amp;" : c == '<' ? s += "&lt;" : c == '>' ? s += "&gt;" : s += c;
  return s;
}

std::string html_unescaped(std::string_view text) {
  std::string s;
  while (!text.empty()) {
    const auto entity = text[0] == '&' ? entity_at(text) : std::nullopt;
    s += entity ? entity->first : std::string(1, text[0]);
    text.remove_prefix(entity ? entity->second : 1);
  }
  return s;
}

std::vector<TextPiece> pieces_of_html(std::string_view whole_text, Split split) {
  const Html html(whole_text);
  std::vector<TextPiece> pieces;
  const auto keep = [&](std::string_view markup) {
    if (!markup.empty()) pieces.push_back({std::string(markup), false});
  };
  std::string text;
  const auto flush = [&] {
    // Lines do not matter in HTML: white space does not end what is translated.
    std::string joined = html_unescaped(text);
    std::replace(joined.begin(), joined.end(), '\n', ' ');
    std::vector<TextPiece> inside;
    add_line(joined, split == Split::none ? Split::lines : split, inside);
    for (TextPiece& piece : inside) {
      if (!piece.translated) piece.text = html_escaped(piece.text);
      pieces.push_back(std::move(piece));
    }
    text.clear();
  };
  for (std::size_t at = 0; at < whole_text.size();) {
    const auto tag = tag_at(html, at);
    if (!tag) {
      text += whole_text[at++];
      continue;
    }
    flush();
    const bool whole = !tag->closing && !tag->alone && !tag->name.empty() && !is_void(tag->name) &&
                       (tag->kept || is_one_of(tag->name, {"script", "style", "code", "pre", "textarea"}));
    const std::size_t size = whole ? element_size(html, at, *tag) : tag->size;
    keep(whole_text.substr(at, size));
    at += size;
  }
  flush();
  return pieces;
}

}  // namespace tril::serve
