#include "language/name.h"

#include <unicode/locid.h>
#include <unicode/uenum.h>
#include <unicode/uloc.h>
#include <unicode/unistr.h>

#include <array>
#include <memory>

namespace tril {
namespace {

icu::Locale locale_of(const Language& l) {
  return icu::Locale(l.language.c_str(), (l.script.empty() ? l.region : l.script + "_" + l.region).c_str());
}

std::string name_in(const Language& language, const icu::Locale& in) {
  icu::UnicodeString name;
  locale_of(language).getDisplayName(in, name);
  std::string text;
  name.toUTF8String(text);
  return text;
}

struct CloseEnumeration {
  void operator()(UEnumeration* list) const { uenum_close(list); }
};

}  // namespace

std::string language_name(const Language& language, const std::string& in) {
  const icu::Locale locale = icu::Locale::createCanonical(in.substr(0, 40).c_str());
  icu::UnicodeString name;
  icu::Locale(language.language.c_str()).getDisplayLanguage(locale, name);
  const bool known = name != icu::UnicodeString::fromUTF8(language.language);
  return name_in(language, known ? locale : icu::Locale::getEnglish());
}

std::string own_name(const Language& language) {
  return name_in(language, locale_of(language));
}

std::string preferred_locale(std::string_view accept_language) {
  // Longer headers come from no browser.
  const std::string header(accept_language.substr(0, 400));
  UErrorCode problem = U_ZERO_ERROR;
  const std::unique_ptr<UEnumeration, CloseEnumeration> known(
      uloc_openAvailableByType(ULOC_AVAILABLE_DEFAULT, &problem));
  std::array<char, ULOC_FULLNAME_CAPACITY> locale{};
  UAcceptResult found = ULOC_ACCEPT_FAILED;
  if (U_SUCCESS(problem))
    uloc_acceptLanguageFromHTTP(locale.data(), ULOC_FULLNAME_CAPACITY, &found, header.c_str(), known.get(), &problem);
  return U_SUCCESS(problem) && found != ULOC_ACCEPT_FAILED && locale[0] ? locale.data() : "en";
}

}  // namespace tril
