#include "text/gpt2_pattern.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace tril {
namespace {

enum class Kind { none, space, letter, number, other };

struct Character {
  Kind kind = Kind::none;  // none: the end of the text
  std::size_t end = 0;
};

Kind kind_of(UChar32 c) {
  if (c < 0) return Kind::other;
  const std::uint32_t category = U_GET_GC_MASK(c);
  if (category & U_GC_L_MASK) return Kind::letter;
  if (category & U_GC_N_MASK) return Kind::number;
  return u_hasBinaryProperty(c, UCHAR_WHITE_SPACE) ? Kind::space : Kind::other;
}

Character character_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  UChar32 c = 0;
  std::size_t next = at;
  U8_NEXT(text.data(), next, text.size(), c);
  return {kind_of(c), next};
}

// The end of the run of characters of one kind from `at`.
std::size_t end_of_run(std::string_view text, std::size_t at, Kind kind) {
  for (Character c = character_at(text, at); c.kind == kind; c = character_at(text, at)) at = c.end;
  return at;
}

// The end of a run of white space, without its last character where something else follows and one is left before it:
// \s+(?!\S)|\s+
std::size_t end_of_space(std::string_view text, std::size_t at) {
  std::size_t last = at, end = at;
  for (Character c = character_at(text, at); c.kind == Kind::space; c = character_at(text, end))
    last = end, end = c.end;
  return end == text.size() || last == at ? end : last;
}

}  // namespace

std::size_t end_of_gpt2_word(std::string_view text, std::size_t at) {
  for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(at).starts_with(ending)) return at + ending.size();
  const Character first = character_at(text, at);
  if (first.kind != Kind::space) return end_of_run(text, at, first.kind);
  if (text[at] == ' ')
    if (const Character second = character_at(text, first.end); second.kind != Kind::space && second.kind != Kind::none)
      return end_of_run(text, first.end, second.kind);
  return end_of_space(text, at);
}

}  // namespace tril
