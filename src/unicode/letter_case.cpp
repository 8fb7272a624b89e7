#include "unicode/letter_case.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/uchar.h>

#include "base/error.h"
#include "unicode/characters.h"

namespace tril {
namespace {

enum class Case { lower, upper, title, folded };

UChar32 code_of(const Character& c) {
  return static_cast<UChar32>(c.code);
}

bool has_property(const Character& c, UProperty property) {
  return c.code != Character::not_utf8 && u_hasBinaryProperty(code_of(c), property);
}

// Maps a single character; an invalid byte is unchanged.
void append_mapped(std::string& out, std::string_view one, Case to) {
  const Character c = character_at(one, 0);
  if (c.code < 0x80) {
    const bool letter =
        to == Case::lower || to == Case::folded ? c.code >= 'A' && c.code <= 'Z' : c.code >= 'a' && c.code <= 'z';
    out += static_cast<char>(letter ? one[0] ^ 0x20 : one[0]);
    return;
  }
  if (c.code == Character::not_utf8) {
    out += one;
    return;
  }
  UErrorCode problem = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&out);
  const icu::StringPiece piece(one.data(), static_cast<std::int32_t>(one.size()));
  if (to == Case::lower)
    icu::CaseMap::utf8ToLower("", 0, piece, sink, nullptr, problem);
  else if (to == Case::upper)
    icu::CaseMap::utf8ToUpper("", 0, piece, sink, nullptr, problem);
  else if (to == Case::folded)
    icu::CaseMap::utf8Fold(0, piece, sink, nullptr, problem);
  else
    icu::CaseMap::utf8ToTitle("", U_TITLECASE_WHOLE_STRING | U_TITLECASE_NO_BREAK_ADJUSTMENT, nullptr, piece, sink,
                              nullptr, problem);
  if (U_FAILURE(problem)) fail("letters", u_errorName(problem));
}

// Whether the capital sigma at [at, end) ends a word: a letter comes before it and none follows, ignoring
// case-ignorable characters [Unicode 3.13, Final_Sigma].
bool ends_word(std::string_view text, std::size_t at, std::size_t end) {
  while (at > 0) {
    at = last_character(text, at);
    const Character c = character_at(text, at);
    if (has_property(c, UCHAR_CASE_IGNORABLE)) continue;
    if (!has_property(c, UCHAR_CASED)) return false;
    while (end < text.size()) {
      const Character next = character_at(text, end);
      end += next.length;
      if (!has_property(next, UCHAR_CASE_IGNORABLE)) return !has_property(next, UCHAR_CASED);
    }
    return true;
  }
  return false;
}

// Appends the character at `at`, mapped in its context. @return where the next one begins
std::size_t append_case(std::string& out, std::string_view text, std::size_t at, Case to) {
  constexpr char32_t capital_sigma = 0x3a3, final_sigma = 0x3c2;
  const Character c = character_at(text, at);
  const std::size_t end = at + c.length;
  if (c.code == capital_sigma && to == Case::lower && ends_word(text, at, end))
    append_utf8(out, final_sigma);
  else
    append_mapped(out, text.substr(at, c.length), to);
  return end;
}

std::string mapped(std::string_view text, Case to) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) at = append_case(out, text, at, to);
  return out;
}

bool is_of_case(std::string_view text, UProperty wanted, UProperty other) {
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (has_property(c, other) || (c.code != Character::not_utf8 && u_charType(code_of(c)) == U_TITLECASE_LETTER))
      return false;
    any = any || has_property(c, wanted);
    at += c.length;
  }
  return any;
}

}  // namespace

std::string upper_case(std::string_view text) {
  return mapped(text, Case::upper);
}

std::string lower_case(std::string_view text) {
  return mapped(text, Case::lower);
}

std::string capital_case(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) at = append_case(out, text, at, at == 0 ? Case::title : Case::lower);
  return out;
}

std::string title_case(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool cased = has_property(character_at(text, at), UCHAR_CASED);
    at = append_case(out, text, at, in_word ? Case::lower : Case::title);
    in_word = cased;
  }
  return out;
}

std::string folded_case(std::string_view text) {
  return mapped(text, Case::folded);
}

bool is_lower_case(std::string_view text) {
  return is_of_case(text, UCHAR_LOWERCASE, UCHAR_UPPERCASE);
}

bool is_upper_case(std::string_view text) {
  return is_of_case(text, UCHAR_UPPERCASE, UCHAR_LOWERCASE);
}

}  // namespace tril
