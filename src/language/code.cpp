#include "language/code.h"

#include <fmt/format.h>
#include <unicode/locid.h>
#include <unicode/uloc.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "language/name.h"

namespace tril {
namespace {

using Alias = std::pair<std::string_view, std::string_view>;

// Codes that are not BCP 47, or whose language CLDR lists under another code without an alias.
constexpr std::array aliases{
    Alias{"zt", "zh-Hant"},                                                               // LibreTranslate
    Alias{"pb", "pt-BR"},                                                                 // LibreTranslate
    Alias{"ns", "nso"},                                                                   // M2M100: Northern Sotho
    Alias{"ar-ar", "ar"},                                                                 // mBART
    Alias{"fuv", "ff"},      Alias{"pbt", "ps"}, Alias{"quy", "qu"}, Alias{"zlm", "ms"},  // NLLB, OPUS-MT
    Alias{"azb", "az-Arab"},
};

// Languages of NLLB that CLDR has no name for.
constexpr std::array<std::string_view, 8> unnamed{"acm", "acq", "ajp", "apc", "cjk", "hne", "kbp", "taq"};

// The longest code with marks is shorter.
constexpr std::size_t most_bytes = 40;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Subtags in lower case; empty if the text is malformed.
std::vector<std::string> subtags_of(std::string_view code) {
  std::vector<std::string> list(1);
  for (const char c : code) {
    if (c == '-' || c == '_')
      list.emplace_back();
    else if (is_letter(c) || is_digit(c))
      list.back() += static_cast<char>(is_letter(c) ? c | 0x20 : c);
    else
      return {};
  }
  const auto fits = [](const std::string& s) { return !s.empty() && s.size() <= 8; };
  if (!std::all_of(list.begin(), list.end(), fits)) return {};
  return list;
}

bool all_letters(const std::string& s) {
  return std::all_of(s.begin(), s.end(), is_letter);
}
bool all_digits(const std::string& s) {
  return std::all_of(s.begin(), s.end(), is_digit);
}

// The language, script and region of subtags; nothing if there is anything else, or another order.
std::optional<Language> read(const std::vector<std::string>& subtags) {
  Language l{subtags.at(0), "", ""};
  if (l.language.size() < 2 || l.language.size() > 3 || !all_letters(l.language)) return std::nullopt;
  std::size_t i = 1;
  const auto at = [&](std::size_t size, const auto& of) {
    return i < subtags.size() && subtags[i].size() == size && of(subtags[i]);
  };
  if (at(3, all_letters)) l.language = subtags[i++];  // "zh-yue": BCP 47 prefers "yue"
  if (at(4, all_letters)) {
    l.script = subtags[i++];
    l.script[0] = static_cast<char>(l.script[0] ^ 0x20);
  }
  if (at(2, all_letters) || at(3, all_digits)) {
    l.region = subtags[i++];
    for (char& c : l.region) c = static_cast<char>(is_letter(c) ? c & ~0x20 : c);
  }
  if (l.region == "XX") l.region.clear();  // mBART: no particular region
  if (i < subtags.size()) return std::nullopt;
  return l;
}

std::string joined(const Language& l) {
  return l.language + (l.script.empty() ? "" : "-" + l.script) + (l.region.empty() ? "" : "-" + l.region);
}

// By CLDR's aliases: "ger" and "deu" are "de", "cmn" is "zh", "sh" is "sr-Latn".
Language canonical(const Language& l) {
  UErrorCode problem = U_ZERO_ERROR;
  icu::Locale locale = icu::Locale::forLanguageTag(joined(l), problem);
  locale.canonicalize(problem);
  if (U_FAILURE(problem)) return l;
  return {locale.getLanguage(), locale.getScript(), locale.getCountry()};
}

// Whether ICU's function gives a name in English rather than the code itself.
template <class NameOf>
bool has_name(const NameOf& name_of) {
  std::array<char16_t, 200> text{};
  UErrorCode problem = U_ZERO_ERROR;
  name_of(text.data(), static_cast<std::int32_t>(text.size()), problem);
  return U_SUCCESS(problem) && problem != U_USING_DEFAULT_WARNING;
}

bool is_known(const Language& l) {
  for (const char* none : {"", "und", "mul", "zxx", "mis"})
    if (l.language == none) return false;
  const std::string tag = "und" + (l.script.empty() ? "" : "_" + l.script) + (l.region.empty() ? "" : "_" + l.region);
  const bool language = std::find(unnamed.begin(), unnamed.end(), l.language) != unnamed.end() ||
                        has_name([&](char16_t* to, std::int32_t size, UErrorCode& problem) {
                          uloc_getDisplayLanguage(l.language.c_str(), "en", to, size, &problem);
                        });
  const bool script = l.script.empty() || has_name([&](char16_t* to, std::int32_t size, UErrorCode& problem) {
                        uloc_getDisplayScript(tag.c_str(), "en", to, size, &problem);
                      });
  const bool region = l.region.empty() || has_name([&](char16_t* to, std::int32_t size, UErrorCode& problem) {
                        uloc_getDisplayCountry(tag.c_str(), "en", to, size, &problem);
                      });
  return language && script && region;
}

// With the usual script and region added.
Language filled(const Language& l) {
  UErrorCode problem = U_ZERO_ERROR;
  icu::Locale locale = icu::Locale::forLanguageTag(joined(l), problem);
  locale.addLikelySubtags(problem);
  if (U_FAILURE(problem)) return l;
  return {l.language, locale.getScript(), locale.getCountry()};
}

}  // namespace

std::string_view without_marks(std::string_view code) {
  for (const auto& [begin, end] : {Alias{">>", "<<"}, Alias{"__", "__"}, Alias{"<2", ">"}})
    if (code.size() > begin.size() + end.size() && code.starts_with(begin) && code.ends_with(end))
      return code.substr(begin.size(), code.size() - begin.size() - end.size());
  return code;
}

std::optional<Language> find_language(std::string_view code) {
  code = without_marks(code);
  if (code.size() > most_bytes) return std::nullopt;
  std::vector<std::string> subtags = subtags_of(code);
  if (subtags.empty()) return std::nullopt;
  const std::string whole = fmt::format("{}", fmt::join(subtags, "-"));
  for (const auto& [from, to] : aliases) {
    if (whole != from && subtags[0] != from) continue;
    std::vector<std::string> canonical_subtags = subtags_of(to);
    // The script of "pbt_Arab" stays; that of "azb_Arab" is in the alias.
    if (whole != from && canonical_subtags.size() == 1)
      canonical_subtags.insert(canonical_subtags.end(), subtags.begin() + 1, subtags.end());
    subtags = std::move(canonical_subtags);
    break;
  }
  const std::optional<Language> given = read(subtags);
  if (!given) return std::nullopt;
  Language l = canonical(*given);
  if (!is_known(l)) return std::nullopt;
  if (l.language == "ko" && l.script == "Hang") l.script.clear();  // CLDR's script of Korean, Kore, is Hangul with Han
  return l;
}

Language language_of(std::string_view code, const std::string& where) {
  if (std::optional<Language> l = find_language(code)) return *std::move(l);
  const std::string hint = nearest_language(code);
  fail_usage(where, fmt::format("expected a language code, got \"{}\"", printable(code)),
             hint.empty() ? "for example de, pt-BR or zh-Hans" : hint);
}

std::string script_of(const Language& language) {
  return language.script.empty() ? filled(language).script : language.script;
}

std::string region_of(const Language& language) {
  return language.region.empty() ? filled(language).region : language.region;
}

std::string code_of(const Language& language) {
  Language shown = language;
  if (shown.language == "zh") {
    if (!shown.region.empty()) shown.script = script_of(shown);  // zh-CN and zh-TW
  } else if (shown.script == script_of({shown.language, "", ""})) {
    shown.script.clear();
  }
  const std::string usual = region_of({shown.language, shown.script, ""});
  if (shown.region == usual && shown.language != "en" && shown.language != "pt") shown.region.clear();
  return joined(shown);
}

std::string nearest_language(std::string_view text) {
  if (text.empty() || text.size() > most_bytes) return "";
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  std::vector<std::string> codes, names;
  for (const char* const* code = uloc_getISOLanguages(); *code; ++code) {
    const std::optional<Language> l = find_language(*code);
    if (!l || code_of(*l) != *code) continue;
    for (std::string name : {language_name(*l, "en"), own_name(*l)}) {
      std::string same = name;
      for (char& c : same) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
      if (same == lower) return fmt::format("for {} it is {}", name, *code);
    }
    codes.emplace_back(*code);
    names.push_back(language_name(*l, "en"));
  }
  if (text.size() <= 3) return "";  // near to many codes
  const std::string name = nearest(std::string(text), names);
  const auto found = std::find(names.begin(), names.end(), name);
  return name.empty() ? ""
                      : fmt::format("for {} it is {}", name, codes[static_cast<std::size_t>(found - names.begin())]);
}

}  // namespace tril
