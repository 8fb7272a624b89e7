#include "document/strings/properties.h"

#include <algorithm>

#include "document/segments/string_segment.h"
#include "document/segments/unicode_escape.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

std::string escape_property(std::string_view text) {
  return escaped_controls(text);
}
std::string escape_property_slot(std::string_view text, const Slot&) {
  return escape_property(text);
}

// What the value means.
std::string unescaped_property(std::string_view raw) {
  std::string s;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      s += raw[at];
      continue;
    }
    if (const auto escape = unicode_escape(raw.substr(at))) {
      s += escape->text;
      at += escape->bytes - 1;
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
    std::size_t key = at;
    while (key < bytes.size() && !comment && std::string_view("=: \t\f\r\n").find(bytes[key]) == std::string_view::npos)
      key += bytes[key] == '\\' ? 2 : 1;
    std::size_t end = comment ? at : std::min(key, bytes.size());
    for (; end < bytes.size() && !is_line_end(end); ++end)
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
