#include "document/segments/sentences.h"

#include <algorithm>

#include "document/segments/place_marks.h"
#include "document/segments/words.h"
#include "unicode/graphemes.h"

namespace tril::document {
namespace {

// The end of the fixed words around byte `at`; `at` itself if it is not within such words.
std::size_t past_fixed(const Segment& segment, std::size_t at) {
  for (const Mark& m : segment.marks)
    if (m.kind == MarkKind::fixed && m.at.begin < at && at < m.at.end) return m.at.end;
  return at;
}

// Puts line breaks into blanks of a translated sentence, and tells which of the source's breaks found one.
class Breaks {
 public:
  Breaks(const Segment& source) : source_(source) {}

  /// The breaks of white space between sentences stay.
  void keep(std::string_view space) {
    for (const char c : space)
      if (c == '\n') kept_.push_back(next_++);
  }
  void put_into(Translated& t, std::string_view sentence) {
    std::string& target = t.text;
    std::replace(target.begin(), target.end(), '\n', ' ');
    std::size_t free = 0;  // breaks stay in order
    for (std::size_t at = sentence.find('\n'); at != std::string_view::npos; at = sentence.find('\n', at + 1)) {
      const std::size_t number = next_++, wanted = std::max(free, at * target.size() / sentence.size());
      const std::size_t after = wanted < target.size() ? target.find(' ', wanted) : std::string::npos;
      const std::size_t before = wanted < target.size() ? target.rfind(' ', wanted) : std::string::npos;
      const bool has_before = before != std::string::npos && before >= free;
      std::size_t place = after;
      if (has_before && (after == std::string::npos || wanted - before < after - wanted)) place = before;
      if (place == std::string::npos && !source_.keeps_breaks) continue;
      if (place == std::string::npos) place = insert_blank(t, wanted);
      target[place] = '\n';
      free = place + 1;
      kept_.push_back(number);
    }
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> list;
    for (const std::size_t k : kept_)
      if (k < source_.breaks.size()) list.push_back(source_.breaks[k]);
    return list;
  }

 private:
  // Between two graphemes, at byte `wanted` or after it. @return its place
  static std::size_t insert_blank(Translated& t, std::size_t wanted) {
    std::size_t place = 0;
    while (place < std::min(wanted, t.text.size())) place = end_of_grapheme(t.text, place);
    t.text.insert(place, " ");
    for (Link& l : t.links) {
      if (l.target.begin >= place) ++l.target.begin;
      if (l.target.end > place) ++l.target.end;
    }
    return place;
  }

  const Segment& source_;
  std::size_t next_ = 0;
  std::vector<std::size_t> kept_;
};

}  // namespace

std::vector<Range> sentences_of(const Segment& segment, const SegmentOptions& options) {
  SegmentOptions o = options;
  o.one_paragraph = o.split != Split::none && !segment.breaks.empty();
  std::vector<Range> list;
  for (const tril::Segment& part : segments_of(segment.text, o)) {
    if (!part.translated) continue;
    const auto begin = static_cast<std::size_t>(part.text.data() - segment.text.data());
    if (!list.empty() && past_fixed(segment, list.back().end) > list.back().end)
      list.back().end = begin + part.text.size();
    else
      list.push_back({begin, begin + part.text.size()});
  }
  return list;
}

std::string sentence_text(const Segment& segment, Range sentence) {
  std::string text = segment.text.substr(sentence.begin, sentence.size());
  if (!segment.breaks.empty()) std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Segment joined(const Segment& source, std::span<const Range> sentences, std::span<const Translated> translations,
               std::string_view language) {
  Translated whole;
  Breaks breaks(source);
  bool same = true;
  std::size_t done = 0;
  const bool all_guessed =
      std::all_of(translations.begin(), translations.end(), [](const Translated& t) { return t.links.empty(); });
  const auto keep = [&](std::size_t end) {
    const std::string_view space = std::string_view(source.text).substr(done, end - done);
    whole.text += space;
    if (!source.breaks.empty()) breaks.keep(space);
  };
  const auto gap = [&](std::size_t s) {
    if (s == 0) return keep(sentences[0].begin);
    const std::string_view space = std::string_view(source.text).substr(done, sentences[s].begin - done);
    const bool spaces = has_spaces_between_sentences(language, translations[s - 1].text);
    whole.text += space.empty() && spaces ? " " : gap_between_translations(space, spaces);
    if (!source.breaks.empty()) breaks.keep(space);
  };
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    const Range at = sentences[s];
    gap(s);
    const std::string_view sentence = std::string_view(source.text).substr(at.begin, at.size());
    same = same && translations[s].text == sentence_text(source, at);
    const std::size_t begin = whole.text.size();
    Translated translated = translations[s];
    if (!source.breaks.empty()) breaks.put_into(translated, sentence);
    if (!source.marks.empty() && !all_guessed) {
      const std::vector<Link>& links = translated.links;
      for (const Link& l : links.empty() ? guessed_links(sentence, translated.text) : links)
        whole.links.push_back({{l.source.begin + at.begin, l.source.end + at.begin},
                               {l.target.begin + begin, l.target.end + begin},
                               l.weight});
    }
    whole.text += translated.text;
    done = at.end;
  }
  if (same) return source;
  keep(source.text.size());
  Segment result = place_marks(source, whole);
  result.breaks = breaks.kept();
  return result;
}

}  // namespace tril::document
