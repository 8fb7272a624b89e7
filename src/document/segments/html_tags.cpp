#include "document/segments/html_tags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "document/segments/character_references.h"
#include "document/segments/words.h"
#include "unicode/trim.h"

namespace tril::document {
namespace {

constexpr std::uint32_t no_tag_end = 0xffffffff;

std::string small_letters(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

// Whether attributes, in small letters, include translate=no, with any quotes and spaces.
bool says_translate_no(std::string_view attributes) {
  constexpr std::string_view name = "translate", no = "no";
  for (std::size_t at = attributes.find(name); at != std::string_view::npos; at = attributes.find(name, at + 1)) {
    std::string_view rest = trim(attributes.substr(at + name.size()));
    if (at == 0 || !is_blank(attributes[at - 1]) || !rest.starts_with('=')) continue;
    rest = trim(rest.substr(1));
    const char quote = rest.starts_with('"') || rest.starts_with('\'') ? rest[0] : ' ';
    if (quote != ' ') rest.remove_prefix(1);
    if (rest.starts_with(no) && (rest.size() == no.size() || rest[2] == quote || (quote == ' ' && is_blank(rest[2]))))
      return true;
  }
  return false;
}

bool is_listed(std::string_view name, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

// Computed from end to start, so that a text of many unclosed '<' takes no longer than others.
HtmlTags::HtmlTags(std::string_view html) : html_(html), unquoted_(html.size() + 1, no_tag_end) {
  std::uint32_t in_single = no_tag_end, in_double = no_tag_end;  // likewise, for a byte within quotes
  for (std::size_t at = html.size(); at-- > 0;) {
    const std::uint32_t outside = unquoted_[at + 1];
    unquoted_[at] = html[at] == '>'    ? static_cast<std::uint32_t>(at)
                    : html[at] == '"'  ? in_double
                    : html[at] == '\'' ? in_single
                                       : outside;
    if (html[at] == '"') in_double = outside;
    if (html[at] == '\'') in_single = outside;
  }
}

std::optional<HtmlTag> HtmlTags::at(std::size_t begin) const {
  if (begin + 3 > html_.size() || html_[begin] != '<') return std::nullopt;
  HtmlTag tag;
  const auto up_to = [&](std::size_t end, std::size_t length) {
    return (end == std::string_view::npos ? html_.size() : end + length) - begin;
  };
  if (html_.substr(begin, 4) == "<!--") {
    tag.size = up_to(html_.find("-->", begin + 4), 3);
    return tag;
  }
  std::size_t at = begin + 1;
  if (html_.substr(begin, 9) == "<![CDATA[") {
    tag.size = up_to(html_.find("]]>", begin + 9), 3);
    return tag;
  }
  if (html_[at] == '!' || html_[at] == '?') {
    tag.size = up_to(html_.find('>', begin), 1);
    return tag;
  }
  if (html_[at] == '/') tag.closing = true, ++at;
  if (!std::isalpha(static_cast<unsigned char>(html_[at]))) return std::nullopt;
  const std::uint32_t end = unquoted_[at];
  if (end == no_tag_end) return std::nullopt;
  const std::size_t name = at;
  while (at < end && !is_blank(html_[at]) && html_[at] != '/') ++at;
  tag.name = small_letters(html_.substr(name, at - name));
  const std::string inside = small_letters(html_.substr(at, end - at));
  tag.alone = !inside.empty() && inside.back() == '/';
  tag.kept = says_translate_no(inside) || inside.find("notranslate") != std::string::npos;
  tag.size = end + 1 - begin;
  return tag;
}

Range HtmlTags::element(std::size_t begin, const HtmlTag& first) const {
  const bool raw = first.name == "script" || first.name == "style";  // their contents have no tags except their own end
  int depth = 1;
  for (std::size_t place = html_.find('<', begin + first.size); place != std::string_view::npos;
       place = html_.find('<', place)) {
    const bool no_tag = raw && (html_.substr(place, 2) != "</" ||
                                small_letters(html_.substr(place + 2, first.name.size())) != first.name);
    const auto tag = no_tag ? std::nullopt : at(place);
    place += tag ? tag->size : 1;
    if (!tag || tag->name != first.name || tag->alone) continue;
    depth += tag->closing ? -1 : 1;
    if (depth == 0) return {begin, place};
  }
  return {begin, html_.size()};
}

std::string HtmlTags::text_of(Range element) const {
  std::string text;
  for (std::size_t place = element.begin; place < element.end;) {
    if (const auto tag = at(place)) {
      place += tag->size;
      continue;
    }
    const auto reference =
        html_[place] == '&' ? character_reference(html_.substr(place, element.end - place)) : std::nullopt;
    text += reference ? reference->text : std::string(1, html_[place]);
    place += reference ? reference->bytes : 1;
  }
  return text;
}

bool is_inline_element(std::string_view name) {
  // A letter and a number, as OmegaT and others write the tags of a segment: <g0>, <x12/>.
  const bool numbered = name.size() > 1 && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (numbered) return name[0] != 'h' || name.size() > 2 || name[1] < '1' || name[1] > '6';
  static constexpr std::array<std::string_view, 33> names{
      "a",      "abbr", "acronym", "b",    "bdi",   "bdo",  "big",   "cite", "data",   "del",  "dfn",
      "em",     "font", "i",       "ins",  "label", "mark", "q",     "s",    "small",  "span", "strike",
      "strong", "sub",  "sup",     "time", "u",     "tt",   "blink", "nobr", "output", "x",    "g"};
  return is_listed(name, names);
}

bool is_code_element(std::string_view name) {
  static constexpr std::array<std::string_view, 4> names{"code", "kbd", "samp", "var"};
  return is_listed(name, names);
}

bool is_void_element(std::string_view name) {
  static constexpr std::array<std::string_view, 13> names{"area",  "base", "br",   "col",    "embed", "hr", "img",
                                                          "input", "link", "meta", "source", "track", "wbr"};
  return is_listed(name, names);
}

}  // namespace tril::document
