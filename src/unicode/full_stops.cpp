#include "unicode/full_stops.h"

#include <string>

#include "unicode/characters.h"
#include "unicode/letter_case.h"
#include "unicode/sentence_marks.h"

namespace tril {
namespace {

// Whether the word is letters separated by full stops, at most two in a row: "z.B", "p.m", "Ph.D", "J.-C".
bool is_dotted(std::string_view word) {
  int letters = 0, dots = 0;
  char32_t before = 0;
  for (std::size_t i = 0; i < word.size(); i += character_at(word, i).length) {
    const char32_t c = character_at(word, i).code;
    if (c == '.' && letters > 0) {
      ++dots, letters = 0;
    } else if (!(c == '-' && before == '.') && (!is_letter(c) || ++letters > 2)) {
      return false;
    }
    before = c;
  }
  return dots > 0 && letters > 0;
}

bool is_single(std::string_view word) {
  return !word.empty() && character_at(word, 0).length == word.size() && is_letter(character_at(word, 0).code);
}

// "art" of "l'art", but not "s" of "it's".
std::string_view behind_apostrophe(std::string_view word) {
  for (const std::string_view sign : {"'", "\u2019"})
    if (const std::size_t at = word.rfind(sign); at != std::string_view::npos && at + sign.size() + 1 < word.size())
      word.remove_prefix(at + sign.size());
  return word;
}

// The number of final digits, if it is a number or several with signs between them ("24.12", "3.-5"); otherwise 0.
std::size_t last_digits(std::string_view word) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < word.size(); i += character_at(word, i).length) {
    const char32_t c = character_at(word, i).code;
    if (is_digit(c))
      ++digits;
    else if (c == '.' || c == '-' || c == '/' || c == 0x2013)
      digits = 0;
    else
      return 0;
  }
  return digits;
}

// "XIV"
bool is_roman(std::string_view word) {
  return !word.empty() && word.find_first_not_of("IVXLCDM") == std::string_view::npos;
}

// A full stop, the word before it and the word behind it.
class Stop {
 public:
  Stop(const SentenceLine& line, std::size_t stop, std::size_t next, const SentenceWords& words)
      : line_(line),
        words_(words),
        begin_(line.word_begin(stop)),
        word_(line.part(begin_, stop)),
        follows_(line.word_behind(next)),
        small_(word_.size() > longest ? std::string() : lower_case(behind_apostrophe(word_))) {
    const std::size_t end = line.position(follows_) + follows_.size();
    is_followed_by_stop_ = !follows_.empty() && end < line.size() && line.at(end) == '.';
    begins_ = !is_followed_by_stop_ && words_.has(WordKind::beginning, follows_);
    const std::size_t number = line.past_signs(next);
    const bool is_label =  // "Fig. A1"
        is_single(follows_) && is_capital(line.at(number)) && end < line.size() && !is_white_space(line.at(end));
    number_follows_ =
        is_label || (number < line.size() && is_digit(line.at(number))) || (is_roman(follows_) && follows_.size() > 1);
    is_first_ = line.past_signs(0) >= begin_;
  }

  bool continues() const {
    if (word_.empty() || word_.size() > longest) return false;
    if (const std::size_t digits = last_digits(word_); digits > 0) return is_ordinal(digits);
    if (is_acronym()) return number_follows_ && words_.has(WordKind::before_number, small_);
    if (words_.has(WordKind::never_last, small_)) return true;
    const std::string all = with_parts_before();
    if (words_.has(WordKind::never_last, all)) return true;
    if (is_followed_by_stop_ && is_known(all + "." + lower_case(follows_))) return true;  // "v. Chr."
    if (number_follows_ && (words_.has(WordKind::before_number, small_) || small_.ends_with("str"))) return true;
    if (is_single(word_) || is_dotted(word_)) return continues_after_letters(all);
    if (is_roman(word_)) return is_first_ || (words_.has_ordinals() && !begins_);
    if (words_.has(WordKind::unit, small_)) return !follows_number() && !begins_;
    return words_.has(WordKind::inner, small_) && !begins_;
  }

 private:
  static constexpr std::size_t longest = 64;  // in bytes: no longer word is an abbreviation

  // "z. B", "p.m", "J", "U.S"
  bool continues_after_letters(const std::string& all) const {
    if (words_.has(WordKind::last, all)) return false;
    if (is_dotted(word_)) return !begins_;
    if (is_first_) return true;  // "A. First item"
    if (words_.has(WordKind::unit, small_)) return !follows_number() && !begins_;
    if (is_followed_by_stop_ && is_single(follows_)) return true;
    if (!is_capital(character_at(word_, 0).code)) return words_.has(WordKind::inner, small_) && !begins_;
    const std::string_view before = line_.word_before(begin_);
    if (words_.has(WordKind::label, lower_case(before.size() > longest ? std::string_view() : before))) return false;
    const bool is_pronoun =
        word_ == "I" && words_.may_be_english() && !before.empty() && is_small(character_at(before, 0).code);
    return !is_pronoun && !begins_;
  }

  // Capitals, and the next word is not: "NAT" is no "nat.", but in a text of capitals "MR" is "Mr".
  bool is_acronym() const {
    return word_.size() > 1 && is_upper_case(word_) && word_.find('.') == std::string_view::npos && !is_single(word_) &&
           !is_roman(word_) && !(follows_.size() > 1 && is_upper_case(follows_)) && !is_followed_by_stop_;
  }

  bool is_known(const std::string& dotted) const {
    return words_.has(WordKind::never_last, dotted) || words_.has(WordKind::last, dotted);
  }

  // "i.d.r" for the word "R" in "i. d. R."
  std::string with_parts_before() const {
    std::string all = small_;
    std::size_t begin = begin_;
    for (int parts = 0; parts < 4; ++parts) {
      std::size_t end = begin;
      while (end > 0 && (line_.before(end) == ' ' || line_.before(end) == 0xa0 || line_.before(end) == 0x202f))
        end -= line_.before(end) == ' ' ? 1 : line_.before(end) == 0xa0 ? 2 : 3;
      if (end == 0 || end == begin || line_.before(end) != '.') break;
      const std::size_t first = line_.word_begin(end - 1);
      const std::string_view part = line_.part(first, end - 1);
      if (part.size() > longest || (!is_single(part) && !is_dotted(part) && part.size() > 6)) break;
      all = lower_case(part) + "." + all;
      begin = first;
    }
    return all;
  }

  // Whether a number with a full stop is an ordinal that belongs to what follows.
  bool is_ordinal(std::size_t digits) const {
    if (is_first_) return digits <= 3;  // "1. First", also after an earlier sentence of the line
    if (digits > 2) return false;
    if (words_.has(WordKind::counted, follows_)) return true;
    const std::string_view before = line_.word_before(begin_);
    if (begins_ || before.size() > longest || !words_.has(WordKind::before_counted, lower_case(before))) return false;
    return before != "am" || line_.word_before(line_.position(before)) != "I";  // "I am 5. Tom is 6."
  }

  bool follows_number() const {
    const std::string_view before = line_.word_before(begin_);
    return last_digits(before) > 0 || is_roman(before) ||
           (!before.empty() && is_digit(line_.before(line_.position(before) + before.size())));
  }

  const SentenceLine& line_;
  const SentenceWords& words_;
  std::size_t begin_;
  std::string_view word_, follows_;
  std::string small_;
  bool is_followed_by_stop_, begins_, number_follows_, is_first_;
};

}  // namespace

bool continues_after_stop(const SentenceLine& line, std::size_t stop, std::size_t next, const SentenceWords& words) {
  return Stop(line, stop, next, words).continues();
}

}  // namespace tril
