#include "document/segments/target_words.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/as_size.h"
#include "document/segments/words.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"
#include "unicode/trim.h"
#include "unicode/word_boundary.h"

namespace tril::document {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

// Words while fixed ones are restored; the bytes are those of the translation.
struct Placed {
  Range at;
  TargetWord word;
};

class Restoring {
 public:
  Restoring(const Segment& source, const std::vector<SourceWord>& from, const Translated& translated)
      : source_(source), from_(from), text_(translated.text), guessed_(translated.links.empty()) {
    first_of_.assign(source.marks.size(), -1);
    for (std::size_t w = from.size(); w-- > 0;)
      if (from[w].mark >= 0) first_of_[as_size(from[w].mark)] = static_cast<std::int32_t>(w);
    std::size_t end = 0;
    for (const Range& at : words_of(text_)) {
      words_.push_back({at, {.space = text_.substr(end, at.begin - end), .text = text_.substr(at.begin, at.size())}});
      end = at.end;
    }
    tail_ = text_.substr(end);
    link(guessed_ ? guessed_links(source.text, text_) : translated.links);
  }

  TargetText run() {
    std::vector<std::size_t> fixed;
    for (std::size_t m = 0; m < source_.marks.size(); ++m)
      if (source_.marks[m].kind == MarkKind::fixed) fixed.push_back(m);
    // Longer ones first: they may contain others.
    std::stable_sort(fixed.begin(), fixed.end(), [&](std::size_t a, std::size_t b) {
      return source_.marks[a].at.size() > source_.marks[b].at.size();
    });
    std::vector<std::size_t> missing;
    for (const std::size_t m : fixed)
      if (!take_copy(m)) missing.push_back(m);
    for (const std::size_t m : fixed)
      if (source_.marks[m].variable) remove_copies(literal(m));
    std::sort(missing.begin(), missing.end());
    for (const std::size_t m : missing)
      if (!replace_counterpart(m)) insert(m);
    TargetText result;
    for (Placed& p : words_) {
      // No other word stands for fixed words.
      if (p.word.fixed < 0 && p.word.source >= 0 && is_fixed(p.word.source)) p.word.source = -1;
      result.words.push_back(std::move(p.word));
    }
    result.tail = std::move(tail_);
    return result;
  }

 private:
  std::string literal(std::size_t m) const {
    return std::string(
        trim(std::string_view(source_.text).substr(source_.marks[m].at.begin, source_.marks[m].at.size())));
  }
  bool is_fixed(std::int32_t source_word) const {
    const std::int32_t m = from_[as_size(source_word)].mark;
    return m >= 0 && source_.marks[as_size(m)].kind == MarkKind::fixed;
  }

  // For each word the source word with the largest sum of weights.
  void link(const std::vector<Link>& links) {
    std::vector<std::vector<std::pair<std::int32_t, float>>> sums(words_.size());
    for (const Link& l : links) {
      const auto first = std::lower_bound(words_.begin(), words_.end(), l.target.begin,
                                          [](const Placed& p, std::size_t begin) { return p.at.end <= begin; });
      for (auto t = first; t != words_.end() && t->at.begin < l.target.end; ++t) {
        auto& sum = sums[as_size(t - words_.begin())];
        const auto begins = std::lower_bound(from_.begin(), from_.end(), l.source.begin,
                                             [](const SourceWord& w, std::size_t begin) { return w.at.end <= begin; });
        for (auto s = begins; s != from_.end() && s->at.begin < l.source.end; ++s)
          sum.emplace_back(static_cast<std::int32_t>(s - from_.begin()), l.weight);
      }
    }
    for (std::size_t t = 0; t < words_.size(); ++t) {
      std::sort(sums[t].begin(), sums[t].end());
      float best = 0;
      for (std::size_t i = 0; i < sums[t].size();) {
        float sum = 0;
        const std::int32_t s = sums[t][i].first;
        for (; i < sums[t].size() && sums[t][i].first == s; ++i) sum += sums[t][i].second;
        if (sum > best) best = sum, words_[t].word.source = s;
      }
    }
  }

  bool corresponds(const Placed& p, std::size_t m) const {
    return p.word.fixed < 0 && p.word.source >= 0 && from_[as_size(p.word.source)].mark == static_cast<std::int32_t>(m);
  }

  // The words that touch a range, as [first, last).
  std::pair<std::size_t, std::size_t> touching(Range at) const {
    const auto first = std::lower_bound(words_.begin(), words_.end(), at.begin,
                                        [](const Placed& p, std::size_t begin) { return p.at.end <= begin; });
    auto last = first;
    while (last != words_.end() && last->at.begin < at.end) ++last;
    return {as_size(first - words_.begin()), as_size(last - words_.begin())};
  }
  bool is_free(Range at) const {
    const auto [first, last] = touching(at);
    return std::none_of(words_.begin() + static_cast<std::ptrdiff_t>(first),
                        words_.begin() + static_cast<std::ptrdiff_t>(last),
                        [](const Placed& p) { return p.word.fixed >= 0; });
  }

  // The copy of `what` at byte `at`, where blanks and the case of letters may differ for `loosely`.
  std::optional<Range> copy_at(std::size_t at, std::string_view what, bool loosely) const {
    if (!loosely)
      return text_.compare(at, what.size(), what) == 0 ? std::optional(Range{at, at + what.size()}) : std::nullopt;
    std::size_t end = at;
    for (const char c : what) {
      if (c == ' ') continue;
      while (end > at && end < text_.size() && text_[end] == ' ') ++end;
      if (end >= text_.size() ||
          std::tolower(static_cast<unsigned char>(text_[end])) != std::tolower(static_cast<unsigned char>(c)))
        return std::nullopt;
      ++end;
    }
    return end == at ? std::nullopt : std::optional(Range{at, end});
  }

  // The free copy of mark m's words that corresponds to it most.
  std::optional<Range> best_copy(std::size_t m, bool loosely) const {
    const std::string what = literal(m);
    std::optional<Range> best;
    std::ptrdiff_t most = -1;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const auto copy = copy_at(at, what, loosely);
      if (!copy || !is_free(*copy)) continue;
      if (!source_.marks[m].variable && (!is_word_boundary(text_, copy->begin) || !is_word_boundary(text_, copy->end)))
        continue;
      const auto [first, last] = touching(*copy);
      const auto count = std::count_if(words_.begin() + static_cast<std::ptrdiff_t>(first),
                                       words_.begin() + static_cast<std::ptrdiff_t>(last),
                                       [&](const Placed& p) { return corresponds(p, m); });
      if (count > most) most = count, best = copy;
    }
    return best;
  }

  bool take_copy(std::size_t m) {
    std::optional<Range> copy = best_copy(m, false);
    if (!copy && source_.marks[m].variable) copy = best_copy(m, true);
    if (!copy) return false;
    put(*copy, m);
    return true;
  }

  TargetWord word_of(std::size_t m) const {
    return {.space = {}, .text = literal(m), .source = first_of_[m], .fixed = static_cast<std::int32_t>(m)};
  }

  // Takes out a range of bytes, which may cut words. @return the place of its words, and the white space before them
  std::pair<std::size_t, std::string> take_out(Range at) {
    const auto [first, last] = touching(at);
    std::string space;
    std::vector<Placed> left;
    for (std::size_t w = first; w < last; ++w) {
      Placed& p = words_[w];
      if (w == first) space = p.word.space;
      const auto part = [&](Range r) {
        Placed piece{r, p.word};
        piece.word.text = text_.substr(r.begin, r.size());
        if (r.begin != p.at.begin) piece.word.space.clear();
        left.push_back(std::move(piece));
      };
      if (p.at.begin < at.begin) part({p.at.begin, at.begin}), space.clear();
      if (p.at.end > at.end) part({at.end, p.at.end});
    }
    const bool before = !left.empty() && left.front().at.end <= at.begin;
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(first),
                 words_.begin() + static_cast<std::ptrdiff_t>(last));
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(first), left.begin(), left.end());
    return {first + (before ? 1 : 0), space};
  }

  void put(Range at, std::size_t m) {
    const auto [place, space] = take_out(at);
    Placed p{at, word_of(m)};
    p.word.space = space;
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(place), std::move(p));
  }

  void remove_copies(const std::string& what) {
    for (std::size_t at = text_.find(what); at != std::string::npos; at = text_.find(what, at)) {
      const Range copy{at, at + what.size()};
      at = copy.end;
      const auto [first, last] = touching(copy);
      if (first == last || !is_free(copy)) continue;
      if (words_[first].at.begin > copy.begin || words_[last - 1].at.end < copy.end) continue;  // partly gone already
      take_out(copy);
    }
  }

  // Whether words may be a garbled or translated form of fixed ones: "{nom}" for "{name}".
  static bool may_be(std::string_view garbled, std::string_view what) {
    const auto letters = [](std::string_view text) {
      std::string s;
      for (const char c : lower_case(text))
        if (static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0) s += c;
      return s;
    };
    const std::string a = letters(garbled), b = letters(what);
    if (a.empty() || b.find(a) != std::string::npos) return true;
    return garbled.front() == what.front() && garbled.back() == what.back() && !begins_with_word_character(garbled) &&
           words_of(garbled).size() <= words_of(what).size();
  }

  bool replace_counterpart(std::size_t m) {
    if (guessed_) return false;
    Range best;  // numbers of words
    for (std::size_t w = 0; w < words_.size();) {
      std::size_t end = w;
      while (end < words_.size() && corresponds(words_[end], m)) ++end;
      if (end - w > best.size()) best = {w, end};
      w = std::max(end, w + 1);
    }
    if (best.empty()) return false;
    const Range at{words_[best.begin].at.begin, words_[best.end - 1].at.end};
    if (!may_be(text_.substr(at.begin, at.size()), literal(m))) return false;
    put(at, m);
    return true;
  }

  // The place of the last (or first) word that corresponds to a source word.
  std::size_t place_of(std::size_t source_word, bool last) const {
    std::size_t place = nowhere;
    for (std::size_t t = 0; t < words_.size(); ++t)
      if (words_[t].word.source == static_cast<std::int32_t>(source_word) && (last || place == nowhere)) place = t;
    return place;
  }

  void insert(std::size_t m) {
    const Range at = source_.marks[m].at;
    const std::size_t before =
        as_size(std::lower_bound(from_.begin(), from_.end(), at.begin,
                                 [](const SourceWord& w, std::size_t b) { return w.at.end <= b; }) -
                from_.begin());
    std::size_t after = before;
    while (after < from_.size() && from_[after].at.begin < at.end) ++after;
    std::size_t place = nowhere;
    if (before > 0) {
      place = place_of(before - 1, true);
      if (place != nowhere) ++place;
    } else {
      place = 0;
    }
    if (place == nowhere) place = after < from_.size() ? place_of(after, false) : words_.size();
    if (place == nowhere) place = words_.size() * before / std::max<std::size_t>(1, from_.size());
    Placed p{{}, word_of(m)};
    p.word.inserted = true;
    const std::size_t byte = place < words_.size() ? words_[place].at.begin : text_.size();
    p.at = {byte, byte};
    const bool blank_before = at.begin > 0 && is_blank(source_.text[at.begin - 1]),
               blank_after = at.end < source_.text.size() && is_blank(source_.text[at.end]);
    if (place > 0 && blank_before) p.word.space = " ";
    if (place < words_.size()) {
      if (place == 0) std::swap(p.word.space, words_[0].word.space);
      if (blank_after && words_[place].word.space.empty()) words_[place].word.space = " ";
    }
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(place), std::move(p));
  }

  const Segment& source_;
  const std::vector<SourceWord>& from_;
  const std::string& text_;
  bool guessed_;
  std::vector<std::int32_t> first_of_;  ///< for each mark its first source word
  std::vector<Placed> words_;           ///< in order; inserted ones have an empty range
  std::string tail_;
};

}  // namespace

std::vector<SourceWord> source_words(const Segment& source) {
  std::vector<SourceWord> words;
  std::vector<std::size_t> edges;
  for (const Mark& m : source.marks) edges.push_back(m.at.begin), edges.push_back(m.at.end);
  std::sort(edges.begin(), edges.end());
  for (Range at : words_of(source.text)) {
    for (auto edge = std::upper_bound(edges.begin(), edges.end(), at.begin); edge != edges.end() && *edge < at.end;
         ++edge) {
      if (*edge == at.begin) continue;
      words.push_back({{at.begin, *edge}});
      at.begin = *edge;
    }
    words.push_back({at});
  }
  // A later mark that holds a word is within the earlier ones that do.
  for (std::size_t m = 0; m < source.marks.size(); ++m) {
    const Range at = source.marks[m].at;
    auto w = std::lower_bound(words.begin(), words.end(), at.begin,
                              [](const SourceWord& x, std::size_t begin) { return x.at.begin < begin; });
    for (; w != words.end() && w->at.end <= at.end; ++w) w->mark = static_cast<std::int32_t>(m);
  }
  return words;
}

TargetText target_words(const Segment& source, const std::vector<SourceWord>& from, const Translated& translated) {
  return Restoring(source, from, translated).run();
}

}  // namespace tril::document
