#include "unicode/segments.h"

#include <unicode/uloc.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "unicode/characters.h"
#include "unicode/fit_segments.h"
#include "unicode/sentence_marks.h"
#include "unicode/sentences.h"
#include "unicode/trim.h"

namespace tril {
namespace {

// The last character other than closing quotes and brackets.
char32_t last_of(std::string_view text) {
  char32_t c = 0;
  while (!text.empty()) {
    const std::size_t begin = last_character(text, text.size());
    c = character_at(text, begin).code;
    if (!closes_after(c, SentenceMark::end)) break;
    text = text.substr(0, begin);
  }
  return c;
}

// Whether a blank belongs after a text that none follows: not within a word or an address.
bool ends_without_its_blank(std::string_view text) {
  const char32_t c = last_of(text);
  return sentence_mark(c, c) != SentenceMark::none || clause_mark(c) != ClauseMark::none ||
         is_written_without_spaces(c);
}

// Adds the segments of one line or paragraph.
class Lines {
 public:
  Lines(const SegmentOptions& options, std::vector<Segment>& segments) : o_(options), segments_(segments) {}

  void add(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.empty()) return add_gap(line);
    const auto begin = static_cast<std::size_t>(text.data() - line.data());
    add_gap(line.substr(0, begin));
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = o_.split == Split::sentences ? sentence_end(rest, o_.language) : rest.size();
      add_sentence(rest.substr(0, end));
      rest.remove_prefix(end);
      const std::string_view next = trim(rest);
      const std::size_t gap = next.empty() ? rest.size() : static_cast<std::size_t>(next.data() - rest.data());
      segments_.back().blank_after = gap == 0 && !rest.empty();
      add_gap(rest.substr(0, gap));
      rest.remove_prefix(gap);
    }
    add_gap(line.substr(begin + text.size()));
  }
  void add_gap(std::string_view gap) {
    if (!gap.empty()) segments_.push_back({.text = gap});
  }

 private:
  void add_sentence(std::string_view sentence) {
    if (o_.max_tokens <= 0 || !o_.tokens) return segments_.push_back({.text = sentence, .translated = true});
    const char* end = sentence.data();  // of the last part
    for (const std::string_view part : parts_that_fit(sentence, o_.tokens, o_.max_tokens)) {
      add_gap({end, static_cast<std::size_t>(part.data() - end)});
      segments_.push_back({.text = part, .translated = true});
      end = part.data() + part.size();
      const bool is_followed = end < sentence.data() + sentence.size();
      segments_.back().blank_after =
          is_followed && ends_without_its_blank(part) &&
          !is_white_space(character_at(sentence, static_cast<std::size_t>(end - sentence.data())).code);
    }
  }

  const SegmentOptions& o_;
  std::vector<Segment>& segments_;
};

}  // namespace

std::vector<Segment> segments_of(std::string_view text, const SegmentOptions& options) {
  std::vector<Segment> segments;
  if (text.empty()) return segments;
  if (options.split == Split::none) return {{.text = text, .translated = !trim(text).empty()}};
  Lines lines(options, segments);
  if (options.one_paragraph) {
    lines.add(text);
    return segments;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.add(text.substr(0, end));
    if (end < text.size()) lines.add_gap(text.substr(end, 1));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return segments;
}

bool has_spaces_between_sentences(std::string_view language, std::string_view translation) {
  if (!language.empty()) {
    std::array<char, ULOC_LANG_CAPACITY> code{};
    UErrorCode error = U_ZERO_ERROR;
    uloc_getLanguage(std::string(language).c_str(), code.data(), static_cast<std::int32_t>(code.size()), &error);
    const std::string_view name(code.data());
    if (U_SUCCESS(error) && !name.empty())
      return name != "zh" && name != "ja" && name != "yue" && name != "wuu" && name != "lzh" && name != "nan";
  }
  const char32_t c = last_of(translation);
  if (c == 0x3002 || is_wide_mark(c) || (c >= 0xff00 && c < 0xff65)) return false;
  return !is_written_without_spaces(c) || (c >= 0xe00 && c < 0x1800);  // Thai and its neighbours have spaces there
}

std::string_view gap_between_translations(std::string_view gap, bool spaces) {
  const bool blank = gap.find_first_not_of(' ') == std::string_view::npos;
  return spaces || !blank ? gap : std::string_view();
}

std::string join_translations(const std::vector<Segment>& segments, const std::vector<std::string>& translations,
                              std::string_view language) {
  const auto translated =
      std::count_if(segments.begin(), segments.end(), [](const Segment& s) { return s.translated; });
  check(translated == std::ssize(translations), "segments", "{} translations for {} translated segments",
        translations.size(), translated);
  std::string text;
  auto next = translations.begin();
  const std::string* before = nullptr;  // the translation before a gap
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    if (s.translated) {
      text += *next;
      before = &*next++;
      if (s.blank_after && has_spaces_between_sentences(language, *before)) text += ' ';
    } else {
      const bool is_between = before != nullptr && i + 1 < segments.size() && segments[i + 1].translated;
      text += is_between ? gap_between_translations(s.text, has_spaces_between_sentences(language, *before)) : s.text;
      before = nullptr;
    }
  }
  return text;
}

}  // namespace tril
