#include "unicode/sentences.h"

#include <unicode/uchar.h>

#include "unicode/characters.h"
#include "unicode/full_stops.h"
#include "unicode/sentence_line.h"
#include "unicode/sentence_marks.h"
#include "unicode/sentence_words.h"
#include "unicode/spaceless_sentences.h"

namespace tril {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether a sentence has begun: it is more than signs.
bool is_word(char32_t c) {
  return c == Character::not_utf8 || (u_ispunct(static_cast<UChar32>(c)) == 0 && !is_white_space(c));
}

bool opens(char32_t c) {
  return c != Character::not_utf8 && u_charType(static_cast<UChar32>(c)) == U_START_PUNCTUATION;
}

// Whether the text at `i` continues a sentence as small letters do, but not names like "iPhone".
bool is_small_word(const SentenceLine& line, std::size_t i) {
  if (i >= line.size() || !is_small(line.at(i))) return false;
  for (int letters = 0; letters < 4 && i < line.size(); ++letters, i = line.behind(i)) {
    if (is_capital(line.at(i))) return false;
    if (!is_small(line.at(i))) return true;
  }
  return true;
}

// The French closing quote comes after a space: "! »".
std::size_t past_spaced_quote(const SentenceLine& line, std::size_t end) {
  const std::size_t quote = line.past_spaces(end);
  if (quote == end || quote >= line.size() || line.at(quote) != 0xbb) return end;
  const std::size_t behind = line.behind(quote);
  return behind >= line.size() || is_white_space(line.at(behind)) ? behind : end;
}

// The marks and closing signs at `begin`.
struct Marks {
  std::size_t begin, end;
  SentenceMark kind;
  bool one_stop;
};

// @param quoted  whether a quotation of ASCII quotes is open; a quote among the marks closes it
Marks marks_at(const SentenceLine& line, std::size_t begin, SentenceMark first, bool& quoted) {
  Marks marks{.begin = begin, .end = line.behind(begin), .kind = first, .one_stop = first == SentenceMark::stop};
  while (marks.end < line.size()) {
    const char32_t c = line.at(marks.end);
    const SentenceMark more = sentence_mark(c, line.before(marks.end));
    const std::size_t behind = line.behind(marks.end);
    const bool is_last = behind >= line.size() || is_white_space(line.at(behind));  // a quote here closes
    const bool closes = closes_after(c, is_last ? SentenceMark::end : marks.kind) || (c == '"' && quoted);
    if (more == SentenceMark::none && !closes) break;
    if (c == '"') quoted = false;
    if (more == SentenceMark::always) marks.kind = more;
    marks.one_stop = marks.one_stop && (c == ')' || c == ']');  // "(3 St.)"
    marks.end = behind;
  }
  return marks;
}

bool is_ellipsis(const SentenceLine& line, const Marks& marks) {
  return line.at(marks.begin) == 0x2026 || line.part(marks.begin, marks.end).starts_with("...");
}

// " - " and " \u2013 ", as between the entries of a path through menus: "Extras \u2013 Optionen\u2026 \u2013 Farben".
bool is_spaced_dash(const SentenceLine& line, std::size_t i) {
  const char32_t c = line.at(i);
  return (c == '-' || (c >= 0x2012 && c <= 0x2015)) && line.behind(i) < line.size() &&
         is_white_space(line.at(line.behind(i)));
}

// "(!)", "[...]"
bool are_in_brackets(const SentenceLine& line, const Marks& marks) {
  return opens(line.before(marks.begin)) && closes_after(line.before(marks.end), SentenceMark::end);
}

// Whether the sentence goes on behind marks that no white space follows.
bool continue_without_space(const SentenceLine& line, const Marks& marks) {
  if (marks.end >= line.size()) return false;
  if (are_in_brackets(line, marks) || clause_mark(line.at(marks.end)) != ClauseMark::none) return true;
  const char32_t first = line.at(marks.begin);
  const bool may_continue = closes_after(line.before(marks.end), SentenceMark::end) || first == 0xff01 ||  // a wide !
                            first == 0xff1f || marks.kind == SentenceMark::end;                            // a wide ?
  return may_continue && continues_quotation(line.part(marks.end, line.size()));
}

// Whether marks that also stand inside sentences end one of Chinese or Japanese, which has no spaces.
bool end_spaceless_sentence(const SentenceLine& line, const Marks& marks) {
  if (marks.end >= line.size() || !is_ideographic(line.before(marks.begin)) || continue_without_space(line, marks))
    return false;
  const char32_t next = line.at(marks.end);
  if (!is_ideographic(next) && !opens(next)) return false;
  const char32_t first = line.at(marks.begin);
  const std::string_view before = line.part(0, marks.begin);
  if (is_ellipsis(line, marks))
    return is_whole_before_ellipsis(before) ||
           (closes_after(line.before(marks.end), SentenceMark::end) && closes_whole_quotation(before));
  if (marks.kind == SentenceMark::stop) return marks.end == marks.begin + 1;
  return first == '!' || first == '?' || (first >= 0x203c && first <= 0x2049);
}

// Whether the marks, which white space follows, end a sentence.
bool end_sentence(const SentenceLine& line, const Marks& marks, const SentenceWords& words) {
  const std::size_t next = line.past_spaces(marks.end);
  if (next >= line.size()) return true;
  if (is_small_word(line, line.past_signs(next))) return false;
  if (line.at(next) == '?' || line.at(next) == '!') return false;  // French: "etc. ?"
  if (are_in_brackets(line, marks)) return false;
  if (is_ellipsis(line, marks) && is_spaced_dash(line, next)) return false;
  return !marks.one_stop || !continues_after_stop(line, marks.begin, next, words);
}

}  // namespace

std::size_t sentence_end(std::string_view text, std::string_view language) {
  const SentenceLine line(text);
  const SentenceWords words(language);
  char32_t before = ' ';
  bool has_word = false, quoted = false;
  std::size_t text_end = 0;  // after the last character other than white space
  for (std::size_t i = 0; i < text.size();) {
    if (is_plain(text[i])) {
      before = static_cast<unsigned char>(text[i]);
      has_word = true;
      text_end = ++i;
      continue;
    }
    const char32_t c = line.at(i);
    if (c == paragraph_separator && text_end > 0) return text_end;
    if (c == '"') quoted = !quoted;
    const SentenceMark mark = sentence_mark(c, before);
    before = c;
    if (mark == SentenceMark::none) {
      i = line.behind(i);
      if (is_white_space(c)) continue;
      text_end = i;
      has_word = has_word || is_word(c);
      continue;
    }
    Marks marks = marks_at(line, i, mark, quoted);
    text_end = i = marks.end;
    before = line.before(i);
    if (!has_word) continue;
    if (marks.kind == SentenceMark::always && !continue_without_space(line, marks)) return i;
    if (end_spaceless_sentence(line, marks)) return i;
    if (i < line.size() && !is_white_space(line.at(i))) continue;
    if (line.paragraph_ends(i)) return i;
    text_end = i = marks.end = past_spaced_quote(line, i);
    if (end_sentence(line, marks, words)) return i;
  }
  return line.size();
}

}  // namespace tril
