// Random texts of all scripts for what cuts texts: words, marks, white space, combining characters, invalid bytes.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "unicode/characters.h"

namespace tril::test {

inline std::string text_of_any_script(RandomSequence& random) {
  static constexpr std::array<std::string_view, 64> parts{"A",
                                                          "dog",
                                                          ".",
                                                          "...",
                                                          ". ",
                                                          " ",
                                                          "\n",
                                                          "\r\n",
                                                          "!",
                                                          "? ",
                                                          "\t",
                                                          "3",
                                                          "12.",
                                                          "No",
                                                          "Dr",
                                                          "z. B",
                                                          "e.g",
                                                          "am",
                                                          ", ",
                                                          "; ",
                                                          ": ",
                                                          " - ",
                                                          "\u2014",
                                                          " \u2013 ",
                                                          "(",
                                                          ")",
                                                          "\"",
                                                          "\u201c",
                                                          "\u201d",
                                                          "\u00ab",
                                                          "\u00bb",
                                                          "\u2026",
                                                          "\u00a0",
                                                          "\u2028",
                                                          "\u2029",
                                                          "\u3000",
                                                          "\u200b",
                                                          "犬",
                                                          "走る",
                                                          "。",
                                                          "、",
                                                          "，",
                                                          "！",
                                                          "」",
                                                          "\u0939\u093f",
                                                          "\u0964",
                                                          "\u0643",
                                                          "\u061f",
                                                          "\u06d4",
                                                          "\u12ed",
                                                          "\u1362",
                                                          "\u1019",
                                                          "\u104b",
                                                          "ไทย",
                                                          "안녕",
                                                          "\u03b1",
                                                          "Привет",
                                                          "г",
                                                          "\u0301",
                                                          "\U0001f600",
                                                          "\U0001f468\u200d\U0001f469",
                                                          "http://a.b/c?d=1",
                                                          "a@b.org",
                                                          "\u17d4"};
  std::string text;
  const bool invalid = random.below(5) == 0;
  for (std::uint64_t n = random.below(60); n > 0; --n) {
    if (random.below(20) == 0) {
      const auto c = static_cast<char32_t>(random.below(0x30000));
      append_utf8(text, c >= 0xd800 && c < 0xe000 ? U'x' : c);
    } else if (invalid && random.below(6) == 0) {
      text += static_cast<char>(0x80 + random.below(0x80));
    } else {
      text += parts[random.below(parts.size())];
    }
  }
  return text;
}

/// A language, often none, sometimes one that is not known.
inline std::string some_language(RandomSequence& random) {
  static constexpr std::array<std::string_view, 12> codes{"",   "",   "en", "de",      "ru",       "el",
                                                          "hi", "ja", "tr", "zh-Hans", "por_Latn", "xx"};
  return std::string(codes[random.below(codes.size())]);
}

}  // namespace tril::test
