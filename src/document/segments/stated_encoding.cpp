#include "document/segments/stated_encoding.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "document/segments/segment.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

constexpr std::size_t most_head_bytes = 4096;  // of a page before its encoding; browsers look at 1024

// In ASCII alone, so that places stay.
std::string in_small_letters(std::string_view text) {
  std::string s(text);
  for (char& c : s)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return s;
}

bool is_among(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

// The value behind a name and "=", with or without quotes, from `at` on.
std::optional<Range> value_behind(std::string_view text, std::string_view name, std::size_t at) {
  for (at = text.find(name, at); at != std::string_view::npos; at = text.find(name, at)) {
    at += name.size();
    std::size_t begin = at;
    while (begin < text.size() && is_blank(text[begin])) ++begin;
    if (begin == text.size() || text[begin] != '=') continue;
    ++begin;
    while (begin < text.size() && (is_blank(text[begin]) || is_among(text[begin], "\"'"))) ++begin;
    std::size_t end = begin;
    while (end < text.size() && !is_blank(text[end]) && !is_among(text[end], "\"';>/\\")) ++end;
    return Range{begin, end};
  }
  return std::nullopt;
}

std::optional<Range> in_xml(std::string_view bytes) {
  const std::size_t begin = bytes.find("<?xml"), end = std::min(bytes.find("?>"), bytes.size());
  if (begin > 3 || begin == std::string_view::npos) return std::nullopt;  // behind a byte order mark at most
  return value_behind(bytes.substr(0, end), "encoding", begin);
}

std::optional<Range> in_html(std::string_view bytes) {
  if (const auto xml = in_xml(bytes)) return xml;
  const std::string head = in_small_letters(bytes.substr(0, most_head_bytes));
  for (std::size_t at = head.find("<meta"); at != std::string::npos; at = head.find("<meta", at + 1)) {
    const std::size_t end = std::min(head.find('>', at), head.size());
    const std::string_view tag = std::string_view(head).substr(0, end);
    const bool is_content = tag.find("content", at) != tag.npos;  // counts only beside http-equiv
    if (is_content && tag.find("http-equiv", at) == tag.npos) continue;
    if (const auto value = value_behind(tag, "charset", at)) return value;
  }
  return std::nullopt;
}

std::optional<Range> in_gettext(std::string_view bytes) {
  const std::size_t header = std::min(bytes.find("msgid \"\""), bytes.size());
  const std::size_t end = std::min(bytes.find("\nmsgid", header), bytes.size());
  const std::size_t at = bytes.substr(0, end).find("\"Content-Type:", header);
  if (at == std::string_view::npos) return std::nullopt;
  return value_behind(bytes.substr(0, bytes.find('\n', at)), "charset", at);
}

std::optional<Range> in_latex(std::string_view bytes) {
  constexpr std::string_view package = "]{inputenc}";
  for (std::size_t end = bytes.find(package); end != std::string_view::npos; end = bytes.find(package, end + 1)) {
    const std::size_t line = bytes.find_last_of('\n', end) + 1, begin = bytes.find_last_of("[\n", end) + 1;
    if (begin > line && bytes.substr(line, begin - line).find('%') == std::string_view::npos) return Range{begin, end};
  }
  return std::nullopt;
}

std::optional<Range> statement_in(std::string_view bytes, StatesEncoding how) {
  switch (how) {
    case StatesEncoding::xml:
      return in_xml(bytes);
    case StatesEncoding::html:
      return in_html(bytes);
    case StatesEncoding::gettext:
      return in_gettext(bytes);
    case StatesEncoding::latex:
      return in_latex(bytes);
    case StatesEncoding::nowhere:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string with_stated_utf8(std::string bytes, StatesEncoding how, const std::string& where) {
  const std::optional<Range> at = statement_in(bytes, how);
  if (!at || at->size() == 0) return bytes;
  const std::string stated = bytes.substr(at->begin, at->size()), name = in_small_letters(stated);
  const bool is_unset = how == StatesEncoding::gettext && stated == "CHARSET";  // in a template
  if (name == "utf-8" || name == "utf8" || name == "utf8x") return bytes;
  const bool is_marked = bytes.starts_with("\xef\xbb\xbf");  // as UTF-8, whatever else it states
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 128; };
  if (!is_unset && !is_marked && !std::all_of(bytes.begin(), bytes.end(), is_ascii))
    fail(where, fmt::format("states the encoding \"{}\", expected UTF-8", printable(stated, 40)),
         "save it as UTF-8, and state UTF-8 in it");
  bytes.replace(at->begin, at->size(), how == StatesEncoding::latex ? "utf8" : "UTF-8");
  return bytes;
}

}  // namespace tril::document
