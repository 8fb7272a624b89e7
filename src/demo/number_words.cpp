#include "demo/number_words.h"

#include <array>

#include "base/element.h"
#include "base/error.h"

namespace tril::train {
namespace {

using SmallNumbers = std::array<const char*, 20>;

constexpr SmallNumbers small_english{"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                     "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                     "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr SmallNumbers small_german{"null",     "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
                                    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
                                    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr SmallNumbers small_french{"zéro",     "un",     "deux",  "trois",    "quatre",   "cinq",    "six",
                                    "sept",     "huit",   "neuf",  "dix",      "onze",     "douze",   "treize",
                                    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"};
constexpr std::array<const char*, 10> english_tens{"",      "",      "twenty",  "thirty", "forty",
                                                   "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<const char*, 10> german_tens{"",        "",        "zwanzig", "dreißig", "vierzig",
                                                  "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};
constexpr std::array<const char*, 10> french_tens{"",          "",         "vingt",    "trente",       "quarante",
                                                  "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt"};

std::string word(const SmallNumbers& words, int n) {
  return element(words, n);
}
std::string ten(const std::array<const char*, 10>& words, int n) {
  return element(words, n / 10);
}

std::string in_english(int n, bool with_and) {
  if (n < 20) return word(small_english, n);
  if (n < 100) return ten(english_tens, n) + (n % 10 ? "-" + word(small_english, n % 10) : "");
  const int unit = n < 1000 ? 100 : 1000, rest = n % unit;
  std::string text = in_english(n / unit, with_and) + (n < 1000 ? " hundred" : " thousand");
  if (rest == 0) return text;
  // British English puts "and" before the last two digits: 105, 1005.
  return text + (with_and && rest < 100 ? " and " : " ") + in_english(rest, with_and);
}

// One word, whose "eins" loses the s except at the end; `bare` leaves out a leading "ein": hundertfünf.
std::string in_german(int n, bool bare) {
  if (n < 20) return word(small_german, n);
  const auto stem = [](int digit) { return digit == 1 ? "ein" : word(small_german, digit); };
  if (n < 100) return (n % 10 ? stem(n % 10) + "und" : "") + ten(german_tens, n);
  const int unit = n < 1000 ? 100 : 1000, rest = n % unit;
  const std::string count = n / unit == 1 && bare ? "" : stem(n / unit);
  return count + (n < 1000 ? "hundert" : "tausend") + (rest ? in_german(rest, false) : "");
}

// Twenties to sixties count to nine, the others to nineteen: soixante-quinze, quatre-vingt-onze.
std::string in_french(int n) {
  if (n < 20) return word(small_french, n);
  if (n < 100) {
    const int rest = n < 70 ? n % 10 : n % 20;
    if (rest == 0) return n == 80 ? "quatre-vingts" : ten(french_tens, n);
    const bool with_et = (rest == 1 || rest == 11) && n < 80;
    return ten(french_tens, n) + (with_et ? " et " : "-") + word(small_french, rest);
  }
  const int unit = n < 1000 ? 100 : 1000, count = n / unit, rest = n % unit;
  std::string text = (count == 1 ? "" : word(small_french, count) + " ") + (n < 1000 ? "cent" : "mille");
  if (n < 1000 && count > 1 && rest == 0) text += "s";
  return text + (rest ? " " + in_french(rest) : "");
}

std::string english_ordinal(int n) {
  constexpr std::array<const char*, 13> irregular{"", "first",  "second", "third", "", "fifth",  "",
                                                  "", "eighth", "ninth",  "",      "", "twelfth"};
  if (n > 20 && n % 10) return ten(english_tens, n) + "-" + english_ordinal(n % 10);
  if (n < 13 && *element(irregular, n)) return element(irregular, n);
  std::string text = in_english(n, false);
  if (text.ends_with('y')) return text.replace(text.size() - 1, 1, "ieth");
  return text + "th";
}

std::string german_ordinal(int n) {
  if (n == 1) return "erste";
  if (n == 3) return "dritte";
  if (n == 7) return "siebte";
  if (n == 8) return "achte";
  return in_german(n, false) + (n < 20 ? "te" : "ste");
}

}  // namespace

std::string cardinal(Language language, int n, Spelling spelling) {
  check(n >= 0 && n <= 9999, "cardinal", "expected a number from 0 to 9999, got {}", n);
  const bool custom = spelling == Spelling::custom;
  switch (language) {
    case Language::english:
      return in_english(n, custom);
    case Language::german:
      return in_german(n, custom);
    case Language::french:
      return in_french(n);
  }
  return {};
}

std::string day_in_words(Language language, int day) {
  check(day >= 1 && day <= 31, "day_in_words", "expected a day from 1 to 31, got {}", day);
  switch (language) {
    case Language::english:
      return english_ordinal(day);
    case Language::german:
      return german_ordinal(day);
    case Language::french:
      return day == 1 ? "premier" : in_french(day);
  }
  return {};
}

}  // namespace tril::train
