// The names of languages, as ICU (Unicode's CLDR) gives them.
#pragma once

#include <string>
#include <string_view>

#include "language/code.h"

namespace tril {

/// The name of a language in another: {"zh", "Hans", ""} in "de" is "Chinesisch (Vereinfacht)".
/// @param in  a locale: "de", "pt_BR"; English if ICU does not know it
std::string language_name(const Language& language, const std::string& in);

/// The name of a language in itself: "Deutsch", "日本語".
std::string own_name(const Language& language);

/// The locale of ICU that a reader prefers by the HTTP header Accept-Language (RFC 9110, section 12.5.4), or that a code
/// names: "de-CH, fr;q=0.5" is "de_CH". "en" if ICU has no names in any of the languages.
std::string preferred_locale(std::string_view accept_language);

}  // namespace tril
