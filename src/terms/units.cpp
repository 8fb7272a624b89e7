#include "terms/units.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "base/error.h"
#include "unicode/characters.h"
#include "unicode/word_boundary.h"

namespace tril::terms {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_hidden(char32_t c) {
  return c >= 0x80 && c != Character::not_utf8 &&
         u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

bool is_white(char32_t c) {
  return c < 0x80 ? c == ' ' || (c >= 9 && c <= 13)
                  : c != Character::not_utf8 && u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_mark(char32_t c) {
  return c >= 0x300 && c != Character::not_utf8 && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

std::string normalized(const icu::Normalizer2* by, UErrorCode status, std::string_view text) {
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  if (U_SUCCESS(status))
    by->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr, status);
  if (U_FAILURE(status)) fail("unicode", "ICU cannot normalise a text", "check that ICU's data files are installed");
  return result;
}

std::string without_hidden(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (!is_hidden(c.code)) shown += text.substr(at, c.length);
    at += c.length;
  }
  return shown;
}

bool is_space_unit(std::string_view unit) {
  return !unit.empty() && is_white(character_at(unit, 0).code);
}

}  // namespace

std::vector<Unit> units_of(std::string_view text) {
  std::vector<Unit> units;
  for (std::size_t at = 0; at < text.size();) {
    const char first = text[at];
    if (is_ascii_word(first)) {  // the common case
      std::size_t end = at + 1;
      while (end < text.size() && is_ascii_word(text[end])) ++end;
      if (!units.empty() && units.back().word && units.back().end == at)
        units.back().end = end;
      else
        units.push_back({at, end, false, true});
      at = end;
      continue;
    }
    const Character c = character_at(text, at);
    const std::size_t end = at + c.length;
    const bool white = is_white(c.code);
    const bool word = !white && c.code >= 0x80 && begins_with_word_character(text.substr(at, c.length));
    const bool joins = !units.empty() && (is_hidden(c.code) || (white && units.back().space) ||
                                          (word && units.back().word) || (is_mark(c.code) && !units.back().space));
    if (joins)
      units.back().end = end;
    else
      units.push_back({at, end, white, word});
    at = end;
  }
  return units;
}

std::string exact_form(std::string_view unit) {
  if (is_space_unit(unit)) return " ";
  if (is_ascii(unit)) return std::string(unit);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(status);
  return normalized(nfc, status, without_hidden(unit));
}

std::string folded_form(std::string_view unit) {
  if (is_space_unit(unit)) return " ";
  if (is_ascii(unit)) {
    std::string small(unit);
    for (char& c : small)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
  }
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const fold = icu::Normalizer2::getNFKCCasefoldInstance(status);
  return normalized(fold, status, unit);
}

std::string exact_text(std::string_view text) {
  std::vector<Unit> units = units_of(text);
  if (!units.empty() && units.back().space) units.pop_back();
  std::string exact;
  for (std::size_t i = !units.empty() && units.front().space ? 1 : 0; i < units.size(); ++i)
    exact += exact_form(text.substr(units[i].begin, units[i].end - units[i].begin));
  return exact;
}

}  // namespace tril::terms
