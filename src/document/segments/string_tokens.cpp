#include "document/segments/string_tokens.h"

#include <cctype>
#include <optional>

#include "document/segments/words.h"

namespace tril::document {
namespace {

constexpr std::size_t most_shortcut_text = 60;      // bytes of a menu's entry
constexpr std::size_t longest_placeholder = 16384;  // bytes; a message of ICU is the longest
constexpr std::size_t longest_printf_name = 200;    // bytes of "(name)" in "%(name)s"

bool is_ascii_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_ascii_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_one_of(char c, std::string_view list) {
  return c != '\0' && list.find(c) != std::string_view::npos;
}

// The place of the only sign of a shortcut key: '&' or '_' before a letter.
std::optional<std::size_t> shortcut_in(std::string_view text) {
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

}  // namespace

Placeholders::Placeholders(std::string_view text) : text_(text) {
  std::vector<std::size_t> open, names;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') open.push_back(at);
    if (text[at] == '(' && at > 0 && text[at - 1] == '%') names.push_back(at);
    if (text[at] == '}' && !open.empty()) {
      ends_.emplace(open.back(), at + 1);
      open.pop_back();
    }
    if (text[at] == ')') {
      for (const std::size_t name : names) ends_.emplace(name, at + 1);
      names.clear();
    }
  }
}

std::size_t Placeholders::bracket(std::size_t at, std::size_t most) const {
  const auto found = ends_.find(at);
  return found == ends_.end() || found->second - at > most ? 0 : found->second - at;
}

std::size_t Placeholders::size_at(std::size_t at) const {
  if (text_[at] == '{') return bracket(at, longest_placeholder);
  if (text_[at] == '%') return percent(at);
  if (text_[at] != '$' || byte(at + 1) != '{') return 0;
  const std::size_t size = bracket(at + 1, longest_placeholder);
  return size > 0 ? 1 + size : 0;
}

// The bytes of printf's, Apple's, Python's, Ruby's or Qt's placeholder; 0: none.
std::size_t Placeholders::percent(std::size_t at) const {
  std::size_t i = at + 1;
  if (byte(i) == '%') return 2;
  if (byte(i) == 'L' && is_ascii_digit(byte(i + 1))) return is_ascii_digit(byte(i + 2)) ? 4 : 3;  // Qt's, localized
  if (byte(i) == '{' || byte(i) == '(') {
    const std::size_t size = bracket(i, byte(i) == '{' ? longest_placeholder : longest_printf_name);
    if (size == 0 || byte(i) == '{') return size == 0 ? 0 : 1 + size;
    i += size;
  }
  if (text_.substr(at, 4) == "%arg" && !is_ascii_letter(byte(at + 4))) return 4;
  const std::size_t digits = i;
  while (is_ascii_digit(byte(i))) ++i;
  const bool numbered = i > digits;
  if (byte(i) == '$') ++i;
  while (is_one_of(byte(i), "-+#0'")) ++i;
  if (byte(i) == '@' && byte(i - 1) == '#') {  // a variable of Apple's strings
    std::size_t end = i + 1;
    while (is_ascii_letter(byte(end)) || is_ascii_digit(byte(end)) || byte(end) == '_') ++end;
    if (byte(end) == '@' && end > i + 1) return end + 1 - at;
  }
  while (is_ascii_digit(byte(i)) || byte(i) == '*') ++i;
  if (byte(i) == '.')
    for (++i; is_ascii_digit(byte(i)) || byte(i) == '*';) ++i;
  std::size_t end = i;
  while (is_one_of(byte(i), "hlLqjzt")) ++i;
  if (is_one_of(byte(i), "diouxXeEfFgGaAcsSpn@")) return i + 1 - at;
  while (end > at && !is_ascii_digit(text_[end - 1])) --end;
  return numbered && digits == at + 1 ? end - at : 0;  // Qt's %1
}

std::vector<StringToken> string_tokens(std::string_view text, ShortcutKeys shortcuts) {
  std::vector<StringToken> list;
  const HtmlTags tags(text);
  const Placeholders placeholders(text);
  const auto key = shortcuts == ShortcutKeys::possible ? shortcut_in(text) : std::nullopt;
  std::size_t done = 0;
  const auto words = [&](std::size_t end) {
    if (done < end) list.push_back({.kind = StringToken::words, .at = {done, end}});
  };
  for (std::size_t at = 0; at < text.size();) {
    StringToken token{.kind = StringToken::shortcut, .at = {at, at + 1}};
    if (auto tag = text[at] == '<' ? tags.at(at) : std::nullopt) {
      token.kind = StringToken::tag;
      token.at.end = at + tag->size;
      token.html = std::move(*tag);
    } else if (const std::size_t size = placeholders.size_at(at)) {
      token.kind = StringToken::placeholder;
      token.at.end = at + size;
    } else if (!key || at != *key) {
      ++at;
      continue;
    }
    words(at);
    done = at = token.at.end;
    list.push_back(std::move(token));
  }
  words(text.size());
  return list;
}

}  // namespace tril::document
