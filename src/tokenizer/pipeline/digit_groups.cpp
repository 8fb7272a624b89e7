#include "tokenizer/pipeline/digit_groups.h"

#include <unicode/uchar.h>

#include "unicode/characters.h"

namespace tril {
namespace {

// \d and \w as in the regular expression library.
bool is_decimal(char32_t c) {
  return c < 0x80 ? c >= '0' && c <= '9'
                  : c <= 0x10ffff && u_charType(static_cast<UChar32>(c)) == U_DECIMAL_DIGIT_NUMBER;
}
bool is_number(char32_t c) {
  return (CharacterKinds::table()(c) & kind_number) != 0;
}
bool is_word(char32_t c) {
  if (c > 0x10ffff) return false;
  const auto code = static_cast<UChar32>(c);
  const std::uint32_t digits = c < 0x100 ? U_GC_N_MASK : U_GC_ND_MASK;  // Latin-1 also counts characters such as 1/2
  return (U_GET_GC_MASK(code) & (U_GC_M_MASK | U_GC_PC_MASK | digits)) != 0 ||
         u_hasBinaryProperty(code, UCHAR_ALPHABETIC) != 0;
}

struct Kind {
  bool (*is_digit)(char32_t) = is_decimal;
  bool needs_boundary = false;  ///< a number followed by a letter is not split
  bool isolates = true;         ///< a number is separated from its surroundings
};

class DigitGroups : public PreTokenizer {
 public:
  explicit DigitGroups(Kind kind) : kind_(kind) {}

  void cut(Word word, PreTokenizerScratch&, const WordSink& take) const override {
    const std::string_view text = word.text;
    std::size_t begin = 0;  // of the text not yet passed on
    const auto hand_on = [&](std::size_t end) {
      if (begin < end) take({text.substr(begin, end - begin), word.at_start && begin == 0});
      begin = end;
    };
    for (std::size_t at = 0; at < text.size();) {
      const Character c = character_at(text, at);
      if (!kind_.is_digit(c.code)) {
        at += c.length;
        continue;
      }
      std::size_t end = at, digits = 0;
      for (; end < text.size() && kind_.is_digit(character_at(text, end).code); ++digits)
        end += character_at(text, end).length;
      const bool bounded = end == text.size() || !is_word(character_at(text, end).code);
      if (!kind_.needs_boundary || bounded) {
        if (kind_.isolates) hand_on(at);
        for (; digits > 0; --digits, at += character_at(text, at).length)
          if (digits % 3 == 0) hand_on(at);
        if (kind_.isolates) hand_on(end);
      }
      at = end;
    }
    hand_on(text.size());
  }

 private:
  Kind kind_;
};

}  // namespace

std::unique_ptr<const PreTokenizer> find_digit_groups(const SplitBy& how) {
  if (!how.pattern.regex || how.invert || how.behavior != SplitBehavior::isolated) return nullptr;
  if (how.pattern.text == number_groups_pattern)
    return std::make_unique<DigitGroups>(Kind{is_number, /*needs_boundary=*/false, /*isolates=*/true});
  if (how.pattern.text == bounded_groups_pattern)
    return std::make_unique<DigitGroups>(Kind{is_decimal, /*needs_boundary=*/true, /*isolates=*/true});
  if (how.pattern.text == before_groups_pattern)
    return std::make_unique<DigitGroups>(Kind{is_decimal, /*needs_boundary=*/false, /*isolates=*/false});
  return nullptr;
}

}  // namespace tril
