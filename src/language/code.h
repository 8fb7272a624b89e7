// Language codes. Models, services and standards write the code of one language in many ways; a code in any of these forms
// becomes one Language:
//   ISO 639-1, 639-2 (B and T) and 639-3       de, ger, deu
//   BCP 47 and POSIX, with script and region   zh-Hans, zh-CN, zh_TW, pt-BR, sr-Latn, es-419
//   tokens and tags of models                  deu_Latn (NLLB), de_DE and en_XX (mBART), __de__ (M2M100), >>de<< (OPUS-MT),
//                                              <2de> (MADLAD-400)
//   services                                   zt, pb, nb (LibreTranslate), EN-GB (DeepL), iw, jw, fil (Google)
// The names, aliases and usual scripts of languages are those of ICU (Unicode's CLDR).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// A language with the script and the region that its code states.
struct Language {
  std::string language;  ///< ISO 639-1 if there is such a code, else 639-3: "de", "yue"; of several equal codes CLDR's
  std::string script;    ///< ISO 15924: "Hans"; "": not stated
  std::string region;    ///< ISO 3166-1 or UN M.49: "BR", "419"; "": not stated

  friend bool operator==(const Language&, const Language&) = default;
};

/// The language of a code in any form; nothing if the text is no code of a known language ("", "und" and "mul" are none).
/// Upper and lower case are equal, as are "-" and "_". Variants are not accepted ("de-1996").
std::optional<Language> find_language(std::string_view code);

/// The same language. @throws Error(usage) at `where`, with the nearest code, if there is no such language
Language language_of(std::string_view code, const std::string& where);

/// The BCP 47 code: "de", "zh-Hans", "pt-BR". A script or region is left out if it is the usual one (deu_Latn and de_DE are
/// "de"), except where clients distinguish variants of a language: zh-Hans, en-US and pt-BR are given in full.
std::string code_of(const Language& language);

/// The script in which the language is written: the stated one, else the usual one in the region; "" if unknown.
std::string script_of(const Language& language);

/// The stated region, else the usual one; "" if unknown.
std::string region_of(const Language& language);

/// The code between the marks of a model's token or tag: "de" for ">>de<<", "__de__" and "<2de>", else the text itself.
std::string_view without_marks(std::string_view code);

/// A hint for a text that is not a code, by the names of languages in English and in themselves: "for German it is de"; ""
/// if nothing is near.
std::string nearest_language(std::string_view text);

}  // namespace tril
