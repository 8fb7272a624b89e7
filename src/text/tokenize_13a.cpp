#include "text/tokenize_13a.h"

#include <clocale>
#include <cwctype>

#include "base/error.h"
#include "base/utf8.h"
#include "text/regex.h"

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

// ASCII punctuation that always stands alone: all but . , - and the apostrophe. The space is in the class, harmlessly.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
         (c >= ':' && c <= '@') || c == '/';
}

// Rewrites each pair of neighbours that `is_pair` accepts, from left to right without overlap, as a regular expression
// does.
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

void encode(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// The C library's table of Unicode, whatever locale the user runs under; made once and kept for the process's life.
locale_t unicode_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!locale) fail("lower case", "the system lacks the locale C.UTF-8", "install it (libc-bin has it on Debian)");
  return locale;
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

  // A stop not preceded by a digit, then one not followed by a digit, then a dash behind a digit.
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
    // Alone, a byte from 0x80 on is not a character: only ASCII and whole sequences can be white space.
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

std::string lower_case(std::string_view text) {
  constexpr char32_t capital_sigma = 0x3A3, final_sigma = 0x3C2, dotted_i = 0x130, dot_above = 0x307;
  const locale_t locale = unicode_locale();

  static const CharacterProperty cased("Cased"), ignorable("Case_Ignorable");
  // Final_Sigma (The Unicode Standard, table 3-17): a cased letter before it and none behind, but for marks between.
  const auto cased_from = [&](std::size_t at) {
    while (at < text.size()) {
      const std::size_t length = character_length(text, at);
      const char32_t c = decode(text.substr(at, length));
      if (!ignorable(c)) return cased(c);
      at += length;
    }
    return false;
  };

  std::string out;
  const bool has_sigma = text.find("\u03a3") != std::string_view::npos;
  bool after_cased = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 1) {
      const char c = text[i];
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      const char32_t c = decode(text.substr(i, length));
      if (c == dotted_i)
        encode(out, U'i'), encode(out, dot_above);
      else if (c == capital_sigma && after_cased && !cased_from(i + length))
        encode(out, final_sigma);
      else
        encode(out, static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), locale)));
    }
    if (has_sigma)
      if (const char32_t c = decode(text.substr(i, length)); !ignorable(c)) after_cased = cased(c);
    i += length;
  }
  return out;
}

}  // namespace tril
