#include "unicode/fit_segments.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "unicode/characters.h"
#include "unicode/graphemes.h"
#include "unicode/sentence_marks.h"

namespace tril {
namespace {

using Ends = std::vector<std::size_t>;
using CountTokens = std::function<std::int64_t(std::string_view)>;

bool is_dash(char32_t c) {
  return c == '-' || (c >= 0x2012 && c <= 0x2015);
}

std::size_t past_white_space(std::string_view text, std::size_t i) {
  for (; i < text.size(); i += character_at(text, i).length)
    if (!is_white_space(character_at(text, i).code)) break;
  return i;
}

// The start of the character at `at`, or of the one that contains it.
std::size_t character_begin(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  std::size_t begin = at;  // a character has at most four bytes, and an invalid byte is one
  for (int back = 0; back < 3 && begin > 0 && (static_cast<std::uint8_t>(text[begin]) & 0xc0) == 0x80; ++back) --begin;
  return begin + character_at(text, begin).length > at ? begin : at;
}

std::string_view without_last_space(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = character_begin(text, text.size() - 1);
    if (!is_white_space(character_at(text, begin).code)) break;
    text = text.substr(0, begin);
  }
  return text;
}

// The places to cut before a dash or after a mark of at least this rank, and the closing quotes and brackets behind it.
Ends clause_ends(std::string_view text, ClauseMark least) {
  Ends ends;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    const std::size_t begin = i;
    i += c.length;
    if (is_white_space(c.code)) {  // " - " and " \u2013 "
      const std::size_t next = i = past_white_space(text, begin);
      if (next >= text.size() || !is_dash(character_at(text, next).code)) continue;
      const std::size_t behind = next + character_at(text, next).length;
      if (behind < text.size() && is_white_space(character_at(text, behind).code)) ends.push_back(begin);
      continue;
    }
    if (c.code == 0x2014 && i < text.size() && !is_white_space(character_at(text, i).code)) ends.push_back(i);
    if (clause_mark(c.code) < least) continue;
    while (i < text.size() && closes_after(character_at(text, i).code, SentenceMark::end))
      i += character_at(text, i).length;
    if (i < text.size() && (is_wide_mark(c.code) || is_white_space(character_at(text, i).code))) ends.push_back(i);
  }
  return ends;
}

Ends white_space_begins(std::string_view text) {
  Ends ends;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = character_at(text, i);
    if (!is_white_space(c.code)) {
      i += c.length;
      continue;
    }
    ends.push_back(i);
    i = past_white_space(text, i);
  }
  return ends;
}

// Word boundaries [UAX #29]; in Thai and the like by ICU's dictionaries.
Ends word_ends(std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UBreakIterator, decltype(&ubrk_close)> words(ubrk_open(UBRK_WORD, "", nullptr, 0, &error),
                                                                     &ubrk_close);
  const std::unique_ptr<UText, decltype(&utext_close)> view(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error), &utext_close);
  if (U_FAILURE(error)) return {};
  ubrk_setUText(words.get(), view.get(), &error);
  if (U_FAILURE(error)) return {};
  Ends ends;
  for (std::int32_t end = ubrk_next(words.get()); end != UBRK_DONE; end = ubrk_next(words.get()))
    ends.push_back(static_cast<std::size_t>(end));
  return ends;
}

Ends grapheme_ends(std::string_view text) {
  Ends ends;
  for (std::size_t i = 0; i < text.size();) ends.push_back(i = end_of_grapheme(text, i));
  return ends;
}

Ends character_ends(std::string_view text) {
  Ends ends;
  for (std::size_t i = 0; i < text.size();) ends.push_back(i += character_at(text, i).length);
  return ends;
}

class Fitting {
 public:
  Fitting(const CountTokens& tokens, std::int64_t most)
      : tokens_(tokens), most_(most), window_(16 * static_cast<std::size_t>(most)) {}

  // The end of the first part of a text without white space at its ends.
  std::size_t first_end(std::string_view text) {
    std::int64_t length = 0;
    std::size_t window = 0;  // the first bytes, which do not fit
    for (std::size_t size = window_;; size *= 2) {
      window = character_begin(text, size);
      length = tokens_(text.substr(0, window));
      if (length > most_) break;
      if (window == text.size()) return window;
    }
    // Parts of about the same length, if it is known how many there are.
    const bool all = window == text.size();
    const auto parts = all ? static_cast<std::size_t>((length + most_ - 1) / most_) : 1;
    const std::size_t aim = all ? window / parts
                                : static_cast<std::size_t>(static_cast<double>(window) * static_cast<double>(most_) /
                                                           static_cast<double>(length));
    const std::size_t end = cut(text.substr(0, window), aim);
    window_ = std::max<std::size_t>(2 * end, 16);
    return end;
  }

 private:
  struct Level {
    Ends (*ends)(std::string_view);
    std::size_t least;  // a cut before aim/least is too early; 0: none is
  };

  std::size_t cut(std::string_view text, std::size_t aim) const {
    static constexpr std::array<Level, 6> levels{{{[](auto t) { return clause_ends(t, ClauseMark::strong); }, 2},
                                                  {[](auto t) { return clause_ends(t, ClauseMark::comma); }, 3},
                                                  {white_space_begins, 4},
                                                  {word_ends, 0},
                                                  {grapheme_ends, 0},
                                                  {character_ends, 0}}};
    for (const Level& level : levels)
      if (const std::size_t end = nearest(text, level.ends(text), aim);
          end > 0 && (level.least == 0 || end >= aim / level.least))
        return end;
    return character_at(text, 0).length;  // it has more tokens than allowed
  }

  // The end nearest to `aim` whose text fits; 0: none fits.
  std::size_t nearest(std::string_view text, const Ends& ends, std::size_t aim) const {
    const auto fits = [&](std::size_t end) { return tokens_(text.substr(0, end)) <= most_; };
    // The number of tokens hardly ever falls as a text grows.
    auto too_long = std::partition_point(ends.begin(), ends.end(), fits);
    const auto behind = std::lower_bound(ends.begin(), too_long, aim);
    auto best = behind;
    if (behind == too_long || (behind != ends.begin() && *behind - aim > aim - *std::prev(behind))) {
      if (behind == ends.begin()) return 0;
      best = std::prev(behind);
    }
    while (!fits(*best)) {
      if (best == ends.begin()) return 0;
      --best;
    }
    return *best;
  }

  const CountTokens& tokens_;
  std::int64_t most_;
  std::size_t window_;  // bytes to begin with
};

}  // namespace

std::vector<std::string_view> parts_that_fit(std::string_view text, const CountTokens& tokens, std::int64_t most) {
  Fitting fitting(tokens, most);
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = fitting.first_end(text);
    parts.push_back(without_last_space(text.substr(0, end)));
    text.remove_prefix(past_white_space(text, end));
  }
  return parts;
}

}  // namespace tril
