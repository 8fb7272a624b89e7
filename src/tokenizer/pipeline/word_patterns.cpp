#include "tokenizer/pipeline/word_patterns.h"

#include <algorithm>
#include <array>

namespace tril {

namespace {

constexpr unsigned word_kinds = kind_space | kind_letter | kind_number;

// Walks over a text by characters.
struct Cursor {
  const CharacterKinds& kinds;
  std::string_view text;
  std::size_t at;
  unsigned kind = 0;       // of the character at `at`
  std::size_t length = 0;  // its bytes; 0: the end of the text

  Cursor(const CharacterKinds& k, std::string_view t, std::size_t a) : kinds(k), text(t), at(a) { look(); }
  void look() {
    if (at >= text.size()) {
      kind = 0, length = 0;
      return;
    }
    const auto byte = static_cast<std::uint8_t>(text[at]);
    if (byte < 0x80) {
      kind = kinds(byte), length = 1;
      return;
    }
    const Character c = character_at(text, at);
    kind = kinds(c.code), length = c.length;
  }
  void next() {
    at += length;
    look();
  }
  bool ended() const { return length == 0; }
  bool is(unsigned mask) const { return (kind & mask) != 0; }
  bool is_sign() const { return !ended() && !is(word_kinds); }
};

// The end of the run of characters of the same kind as at the cursor: letters, numbers, or neither of these nor space.
std::size_t end_of_run(Cursor c) {
  const unsigned kind = c.kind & word_kinds;
  while (!c.ended() && (c.kind & word_kinds) == kind) c.next();
  return c.at;
}

// The end of a run of white space, without its last character if something follows and another is left before it:
// \s+(?!\S)|\s+
std::size_t end_of_space(Cursor c) {
  const std::size_t begin = c.at;
  std::size_t last = begin;
  for (; c.is(kind_space); c.next()) last = c.at;
  return c.ended() || last == begin ? c.at : last;
}

// The end of 's, 't, 're, 've, 'm, 'll or 'd at `at`, in either case; 0: none. U+017F also counts as s.
std::size_t end_of_contraction(std::string_view text, std::size_t at) {
  const auto letter = [&](std::size_t i) { return i < text.size() ? static_cast<char>(text[i] | 0x20) : ' '; };
  if (text[at] != '\'' || at + 1 >= text.size()) return 0;
  const char a = letter(at + 1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
  if (text.substr(at + 1).starts_with("\u017f")) return at + 3;
  const char b = letter(at + 2);
  return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? at + 3 : 0;
}

template <std::size_t most_digits>
std::size_t end_of_llama3_word(const CharacterKinds& kinds, std::string_view text, std::size_t at) {
  if (const std::size_t end = end_of_contraction(text, at)) return end;
  Cursor c(kinds, text, at);
  if (c.is(kind_letter)) return end_of_run(c);
  if (c.is(kind_number)) {
    for (std::size_t n = 0; n < most_digits && c.is(kind_number); ++n) c.next();
    return c.at;
  }
  Cursor second = c;
  second.next();
  if (!c.is(kind_newline) && second.is(kind_letter)) return end_of_run(second);
  if (c.is_sign() || (text[at] == ' ' && second.is_sign())) {
    Cursor end(kinds, text, end_of_run(c.is_sign() ? c : second));
    while (end.is(kind_newline)) end.next();
    return end.at;
  }
  // \s*[\r\n]+ extends to the last newline of the run of white space.
  std::size_t newline = 0;
  for (Cursor space = c; space.is(kind_space); space.next())
    if (space.is(kind_newline)) newline = space.at + space.length;
  return newline != 0 ? newline : end_of_space(c);
}

}  // namespace

std::size_t end_of_gpt2_word(const CharacterKinds& kinds, std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(at).starts_with(ending)) return at + ending.size();
  const Cursor c(kinds, text, at);
  if (!c.is(kind_space)) return end_of_run(c);
  if (text[at] == ' ') {
    Cursor second = c;
    second.next();
    if (!second.ended() && !second.is(kind_space)) return end_of_run(second);
  }
  return end_of_space(c);
}

EndOfWord find_word_pattern(std::string_view regex) {
  if (regex == gpt2_pattern) return end_of_gpt2_word;
  if (regex == llama3_pattern) return end_of_llama3_word<3>;
  if (regex == qwen2_pattern) return end_of_llama3_word<1>;
  return nullptr;
}

}  // namespace tril
