#include "metrics/tokenize_13a.h"

#include "base/utf8.h"

namespace tril {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_stop(char c) {
  return c == '.' || c == ',';
}

// ASCII punctuation that is always a token: all except . , - and the apostrophe. Includes the space, which has no effect.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

// Rewrites each pair of neighbours that `is_pair` accepts, from left to right without overlap, like a regular
// expression.
template <class IsPair, class Rewrite>
std::string rewrite_pairs(const std::string& text, IsPair is_pair, Rewrite rewrite) {
  std::string out;
  out.reserve(text.size() * 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && is_pair(text[i], text[i + 1])) {
      rewrite(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

char32_t decode(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    case 4:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    default:
      return byte(0);
  }
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

std::size_t character_length(std::string_view text, std::size_t at) {
  const std::size_t length = utf8_sequence(text.substr(at));
  return length == 0 ? 1 : length;
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  // In this order: "&amp;lt;" becomes "<", as in the reference.
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  std::string spaced = " ";
  for (const char c : text) {
    if (stands_alone(c))
      (spaced += ' ') += c, spaced += ' ';
    else
      spaced += c;
  }
  spaced += ' ';

  // A stop not after a digit, then one not before a digit, then a dash after a digit.
  spaced = rewrite_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_stop(b); },
      [](std::string& out, char a, char b) { (((out += a) += ' ') += b) += ' '; });
  spaced = rewrite_pairs(
      spaced, [](char a, char b) { return is_stop(a) && !is_digit(b); },
      [](std::string& out, char a, char b) { (((out += ' ') += a) += ' ') += b; });
  spaced = rewrite_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; },
      [](std::string& out, char a, char b) { (((out += a) += ' ') += b) += ' '; });

  std::string out;
  for (const std::string_view word : split_words(spaced)) out.append(out.empty() ? "" : " ").append(word);
  return out;
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t length = character_length(line, i);
    // A stray byte from 0x80 on is not a character: only ASCII and complete sequences can be white space.
    const bool stray = length == 1 && static_cast<unsigned char>(line[i]) >= 0x80;
    if (!stray && is_space(decode(line.substr(i, length)))) {
      if (i > begin) words.push_back(line.substr(begin, i - begin));
      begin = i + length;
    }
    i += length;
  }
  if (line.size() > begin) words.push_back(line.substr(begin));
  return words;
}

}  // namespace tril
