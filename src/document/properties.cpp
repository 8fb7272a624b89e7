#include "document/properties.h"

#include <algorithm>
#include <charconv>

#include "document/string_segment.h"
#include "document/words.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

std::string escape_property(std::string_view text) {
  return escaped_controls(text);
}
std::string escape_property_slot(std::string_view text, const Slot&) {
  return escape_property(text);
}

// The UTF-16 unit of "\uXXXX" at the start of a text.
std::uint32_t unit_of(std::string_view text) {
  std::uint32_t unit = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return error == std::errc() && end == text.data() + 6 ? unit : 0;
}

// What the value means.
std::string unescaped_property(std::string_view raw) {
  std::string s;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      s += raw[at];
      continue;
    }
    std::uint32_t unit = unit_of(raw.substr(at));
    if (unit != 0) {
      at += 5;
      const std::uint32_t low = unit >= 0xd800 && unit < 0xdc00 ? unit_of(raw.substr(at + 1)) : 0;
      if (low >= 0xdc00 && low < 0xe000) unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), at += 6;
      append_utf8(s, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : static_cast<char32_t>(unit));
      continue;
    }
    const char c = raw[++at];
    if (c == '\n' || c == '\r') {  // the value goes on after the next line's white space
      if (c == '\r' && at + 1 < raw.size() && raw[at + 1] == '\n') ++at;
      while (at + 1 < raw.size() && (raw[at + 1] == ' ' || raw[at + 1] == '\t' || raw[at + 1] == '\f')) ++at;
    } else {
      s += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
    }
  }
  return s;
}

}  // namespace

std::unique_ptr<Document> read_properties(std::string text) {
  auto document = std::make_unique<TextDocument>(std::move(text));
  const std::string_view bytes = document->bytes();
  const auto is_line_end = [&](std::size_t at) { return bytes[at] == '\n' || bytes[at] == '\r'; };
  for (std::size_t at = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0; at < bytes.size();) {
    at = std::min(bytes.find_first_not_of(" \t\f\r\n", at), bytes.size());
    if (at == bytes.size()) break;
    const bool comment = bytes[at] == '#' || bytes[at] == '!';
    std::size_t key = at, end = at;
    while (key < bytes.size() && !comment && std::string_view("=: \t\f\r\n").find(bytes[key]) == std::string_view::npos)
      key += bytes[key] == '\\' ? 2 : 1;
    for (end = comment ? at : std::min(key, bytes.size()); end < bytes.size() && !is_line_end(end); ++end)
      if (bytes[end] == '\\' && !comment) end += bytes.substr(end + 1, 2) == "\r\n" ? 2 : 1;
    end = std::min(end, bytes.size());
    if (!comment && key < end) {
      std::size_t value = bytes.find_first_not_of(" \t\f", key);
      if (value < end && (bytes[value] == '=' || bytes[value] == ':'))
        value = bytes.find_first_not_of(" \t\f", value + 1);
      if (value < end) {
        // A reader drops blanks at the start that are not escaped, so the escaped ones stay as they are.
        while (value + 2 < end && bytes[value] == '\\' && (bytes[value + 1] == ' ' || bytes[value + 1] == 't'))
          value += 2;
        Segment segment = string_segment(unescaped_property(bytes.substr(value, end - value)), escape_property);
        if (is_worth_translating(segment))
          document->add({.at = {value, end}, .escape = &escape_property_slot}, std::move(segment));
      }
    }
    at = end;
  }
  return document;
}

}  // namespace tril::document
