#include "document/strings/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "document/segments/words.h"

namespace tril::document {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t';
}
bool is_end(char c) {
  return c == '\n' || c == '\r';
}

// The end of the line at `at`, before its line end.
std::size_t line_end_at(std::string_view bytes, std::size_t at) {
  return std::min(bytes.find_first_of("\r\n", at), bytes.size());
}
// Behind one line end.
std::size_t past_line_end(std::string_view bytes, std::size_t at) {
  if (at < bytes.size() && bytes[at] == '\r') ++at;
  return at < bytes.size() && bytes[at] == '\n' ? at + 1 : at;
}

// Behind anchors, tags, comments and white space.
std::size_t past_properties(std::string_view bytes, std::size_t at) {
  while (at < bytes.size()) {
    const char c = bytes[at];
    if (is_space(c) || is_end(c))
      ++at;
    else if (c == '#')
      at = line_end_at(bytes, at);
    else if (c == '&' || c == '!')
      while (at < bytes.size() && !is_space(bytes[at]) && !is_end(bytes[at])) ++at;
    else
      break;
  }
  return at;
}

std::optional<YamlScalar> quoted(std::string_view bytes, std::size_t begin) {
  const char quote = bytes[begin];
  for (std::size_t at = begin + 1; at < bytes.size(); ++at) {
    if (quote == '"' && bytes[at] == '\\') {
      ++at;
    } else if (bytes[at] == quote) {
      if (quote == '"') return YamlScalar{YamlStyle::double_quoted, {begin, at + 1}, {}};
      if (at + 1 >= bytes.size() || bytes[at + 1] != quote)
        return YamlScalar{YamlStyle::single_quoted, {begin, at + 1}, {}};
      ++at;
    }
  }
  return std::nullopt;
}

// Compares the file's bytes with the value, in which one line end is a blank, and n + 1 line ends are n.
std::optional<YamlScalar> plain(std::string_view bytes, std::size_t begin, std::string_view value) {
  std::size_t at = begin;
  for (std::size_t v = 0; v < value.size();) {
    std::size_t end = at;
    while (end < bytes.size() && is_space(bytes[end])) ++end;
    if (end == bytes.size() || !is_end(bytes[end])) {
      const std::string_view same = bytes.substr(at, std::max<std::size_t>(end - at, 1));  // blanks, or one byte
      if (same.empty() || !value.substr(v).starts_with(same)) return std::nullopt;
      at += same.size(), v += same.size();
      continue;
    }
    std::size_t lines = 0;
    for (at = end; at < bytes.size() && (is_space(bytes[at]) || is_end(bytes[at]));) {
      if (is_end(bytes[at]))
        at = past_line_end(bytes, at), ++lines;
      else
        ++at;
    }
    const std::string folded = lines == 1 ? " " : std::string(lines - 1, '\n');
    if (!value.substr(v).starts_with(folded)) return std::nullopt;
    v += folded.size();
  }
  return YamlScalar{YamlStyle::plain, {begin, at}, {}};
}

std::string_view without_line_ends(std::string_view text) {
  while (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

std::optional<YamlScalar> block(std::string_view bytes, std::size_t begin, std::string_view value) {
  YamlScalar scalar{bytes[begin] == '|' ? YamlStyle::literal : YamlStyle::folded, {}, {}};
  const bool literal = scalar.style == YamlStyle::literal;
  std::string text;
  std::size_t empty_lines = 0;
  for (std::size_t at = past_line_end(bytes, line_end_at(bytes, begin)); at < bytes.size();) {
    const std::size_t end = line_end_at(bytes, at);
    std::size_t first = at;
    while (first < end && bytes[first] == ' ') ++first;
    const std::size_t indent = scalar.indent.size();
    if (first == end && (text.empty() || first - at <= indent)) {
      ++empty_lines;
    } else {
      if (text.empty())
        scalar.indent = bytes.substr(at, first - at), scalar.at.begin = first;
      else if (first - at < indent)
        break;
      const std::string_view line = bytes.substr(at + scalar.indent.size(), end - at - scalar.indent.size());
      if (!literal && !line.empty() && is_space(line[0])) return std::nullopt;  // a line that is not folded
      if (!text.empty()) {
        if (literal)
          text.append(empty_lines + 1, '\n');
        else
          empty_lines == 0 ? text += ' ' : text.append(empty_lines, '\n');
      }
      text += line;
      scalar.at.end = end;
      empty_lines = 0;
    }
    if (end == bytes.size()) break;
    at = past_line_end(bytes, end);
  }
  if (text.empty() || scalar.indent.empty() || text != without_line_ends(value)) return std::nullopt;
  return scalar;
}

std::string in_double_quotes(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
bool has_controls(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Whether a text may stand without quotes.
bool is_plain_text(std::string_view text, bool flow) {
  if (text.empty() || has_controls(text) || is_blank(text.front()) || is_blank(text.back()) || text.back() == ':' ||
      std::string_view("-?:,[]{}#&*!|>'\"%@`.=<~").find(text.front()) != std::string_view::npos)
    return false;
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  if (flow && text.find_first_of(",[]{}:") != std::string_view::npos) return false;
  return is_yaml_string(text);
}

// The lines of a block. In a folded one, n + 1 line ends are n of the text.
std::string block_text(std::string_view text, const YamlScalar& scalar, const std::string& line_end) {
  const bool folded = scalar.style == YamlStyle::folded;
  std::string s;
  text = without_line_ends(text);
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);  // it would be indentation
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    while (folded && !line.empty() && is_space(line[0])) line.remove_prefix(1);  // such a line would not be folded
    if (begin > 0) s += line_end;
    if (begin > 0 && !line.empty()) s += (folded ? line_end : "") + scalar.indent;
    s += line;
    begin = end + 1;
  }
  return s;
}

}  // namespace

std::optional<YamlScalar> find_yaml_scalar(std::string_view bytes, std::size_t begin, std::string_view value) {
  const std::size_t at = past_properties(bytes, begin);
  if (at >= bytes.size()) return std::nullopt;
  if (bytes[at] == '"' || bytes[at] == '\'') return quoted(bytes, at);
  if (bytes[at] == '|' || bytes[at] == '>') return block(bytes, at, value);
  return plain(bytes, at, value);
}

bool is_yaml_string(std::string_view plain) {
  std::string small(plain);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::array<std::string_view, 14> words{"y",   "n",    "yes", "no",   "true",  "false", "on",
                                                          "off", "null", "~",   ".inf", "-.inf", "+.inf", ".nan"};
  if (small.empty() || std::find(words.begin(), words.end(), small) != words.end()) return false;
  // A number or a date has a digit, and no other letters than those of 0x1F, 0o17, 1e5 and 2001-12-14t21:59:43z.
  const bool digit = std::any_of(small.begin(), small.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return !digit || small.find_first_not_of("0123456789abcdefotxz+-._,: ") != std::string::npos;
}

std::string yaml_text(const YamlScalar& scalar, std::string_view text, bool flow, std::string_view line_end) {
  const std::string end(line_end);
  switch (scalar.style) {
    case YamlStyle::literal:
    case YamlStyle::folded:
      return block_text(text, scalar, end);
    case YamlStyle::plain:
      if (is_plain_text(text, flow)) return std::string(text);
      break;
    case YamlStyle::single_quoted:
      if (!has_controls(text)) {
        std::string s = "'";
        for (const char c : text) s += c == '\'' ? std::string("''") : std::string(1, c);
        return s + "'";
      }
      break;
    case YamlStyle::double_quoted:
      break;
  }
  return in_double_quotes(text);
}

}  // namespace tril::document
