#include "document/segments/place_marks.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/as_size.h"
#include "document/segments/target_words.h"
#include "document/segments/words.h"
#include "unicode/word_boundary.h"

namespace tril::document {
namespace {

// What the result is written from.
struct Event {
  enum Kind : std::uint8_t { word, open, close, point } kind;
  std::size_t index;  ///< of the word or the mark
};

// One of a node's parts in the order of the translation.
struct Part {
  std::int32_t word = -1;  ///< -1: a mark
  std::size_t mark = 0;
  std::vector<std::size_t> words;  ///< within the mark
};

// How much a word speaks for being in a pair's run.
constexpr double own = 1, required = 1e6, unaligned = -0.1, other_text = -0.6, sibling = -2;

class Layout {
 public:
  Layout(const Segment& source, const std::vector<SourceWord>& from, const std::vector<TargetWord>& words)
      : source_(source), from_(from), words_(words), children_(source.marks.size() + 1) {
    for (std::size_t m = 0; m < source.marks.size(); ++m) children_[as_size(source.marks[m].parent + 1)].push_back(m);
    has_words_.assign(source.marks.size(), false);
    for (const SourceWord& w : from)
      for (std::int32_t m = w.mark; m >= 0; m = source.marks[as_size(m)].parent) has_words_[as_size(m)] = true;
  }

  std::vector<Event> run() {
    std::vector<std::size_t> all(words_.size());
    for (std::size_t w = 0; w < all.size(); ++w) all[w] = w;
    inside(-1, all);
    return std::move(events_);
  }

 private:
  // The innermost pair that a word belongs to; -1: none.
  std::int32_t owner(const TargetWord& w) const {
    if (w.fixed >= 0) return source_.marks[as_size(w.fixed)].parent;
    if (w.source < 0) return -1;
    const std::int32_t m = from_[as_size(w.source)].mark;
    return m >= 0 && source_.marks[as_size(m)].kind == MarkKind::fixed ? source_.marks[as_size(m)].parent : m;
  }
  // The node's child that a word belongs to; -1: none.
  std::int32_t child_for(std::int32_t node, const TargetWord& w) const {
    for (std::int32_t m = owner(w); m >= 0; m = source_.marks[as_size(m)].parent)
      if (source_.marks[as_size(m)].parent == node) return m;
    return -1;
  }

  // A node's words, and what has been decided about them.
  struct Level {
    std::int32_t node;
    std::vector<std::size_t> words;
    std::vector<std::int32_t> label,
        run;  ///< the child that a word belongs to, and the one whose run it is in; -1: none
  };

  double score(const Level& level, std::size_t k, std::int32_t child) const {
    const TargetWord& w = words_[level.words[k]];
    if (level.label[k] == child) return w.fixed >= 0 ? required : own;
    if (level.label[k] >= 0) return sibling;
    return w.source < 0 ? unaligned : other_text;
  }

  // The run of the largest score among words that are in no run.
  void take_run(Level& level, std::int32_t child) const {
    double best = 0, sum = 0;
    Range run;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < level.words.size(); ++k) {
      if (level.run[k] >= 0 || sum <= 0) sum = 0, begin = k;
      if (level.run[k] >= 0) {
        begin = k + 1;
        continue;
      }
      sum += score(level, k, child);
      if (sum > best) best = sum, run = {begin, k + 1};
    }
    std::fill(level.run.begin() + static_cast<std::ptrdiff_t>(run.begin),
              level.run.begin() + static_cast<std::ptrdiff_t>(run.end), child);
  }

  // The share of the node's text before a mark, of `size` parts.
  std::size_t in_proportion(std::int32_t node, std::size_t mark, std::size_t size) const {
    const Range at = node < 0 ? Range{0, source_.text.size()} : source_.marks[as_size(node)].at;
    if (at.empty()) return 0;
    return std::min(size, (source_.marks[mark].at.begin - at.begin) * size / at.size());
  }

  // A pair whose words have gone gets the nearest word that corresponds to none, or else the nearest that corresponds to one in no
  // pair: a link without words could not be followed, and formats without words are lost.
  void take_word(Level& level, std::size_t child) const {
    const std::size_t at = in_proportion(level.node, child, level.words.size());
    const auto distance = [&](std::size_t k) {
      return std::pair(words_[level.words[k]].source >= 0, k > at ? k - at : at - k);
    };
    std::optional<std::size_t> nearest;
    for (std::size_t k = 0; k < level.words.size(); ++k) {
      const TargetWord& w = words_[level.words[k]];
      if (level.run[k] < 0 && level.label[k] < 0 && w.fixed < 0 && begins_with_word_character(w.text) &&
          (!nearest || distance(k) < distance(*nearest)))
        nearest = k;
    }
    if (nearest) level.run[*nearest] = static_cast<std::int32_t>(child);
  }

  Level level_of(std::int32_t node, const std::vector<std::size_t>& words) const {
    Level level{node, words, {}, std::vector<std::int32_t>(words.size(), -1)};
    std::map<std::int32_t, std::size_t> counts;
    for (const std::size_t w : words) {
      level.label.push_back(child_for(node, words_[w]));
      if (level.label.back() >= 0) ++counts[level.label.back()];
    }
    std::vector<std::int32_t> by_count;
    for (const auto& [child, count] : counts) by_count.push_back(child);
    std::stable_sort(by_count.begin(), by_count.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
    for (const std::int32_t child : by_count) take_run(level, child);
    for (const std::size_t m : children_[as_size(node + 1)])
      if (source_.marks[m].kind == MarkKind::pair && has_words_[m] && !counts.contains(static_cast<std::int32_t>(m)))
        take_word(level, m);
    return level;
  }

  // The parts of a level, except marks without words. Fixed words go to the pair that they belong to, wherever they are.
  std::vector<Part> parts_of(const Level& level) const {
    std::vector<Part> parts;
    std::map<std::int32_t, std::size_t> part_of;
    std::vector<std::size_t> pulled;  // fixed words in the run of a pair that they do not belong to
    for (std::size_t k = 0; k < level.words.size(); ++k) {
      const std::size_t w = level.words[k];
      const bool is_fixed = words_[w].fixed >= 0;
      const std::int32_t in = level.run[k];
      if (in >= 0 && (!is_fixed || level.label[k] == in)) {
        if (part_of.emplace(in, parts.size()).second) parts.push_back({-1, as_size(in), {}});
        parts[part_of[in]].words.push_back(w);
      } else if (is_fixed && level.label[k] >= 0) {
        pulled.push_back(k);
      } else {
        parts.push_back({static_cast<std::int32_t>(w), 0, {}});
      }
    }
    for (const std::size_t k : pulled) {
      const std::int32_t home = level.label[k];
      if (part_of.emplace(home, parts.size()).second) parts.push_back({-1, as_size(home), {}});
      std::vector<std::size_t>& words = parts[part_of[home]].words;
      words.insert(std::upper_bound(words.begin(), words.end(), level.words[k]), level.words[k]);
    }
    return parts;
  }

  bool holds(const Part& part, std::size_t source_word) const {
    const auto is_it = [&](std::size_t w) { return words_[w].source == static_cast<std::int32_t>(source_word); };
    return part.word >= 0 ? is_it(as_size(part.word)) : std::any_of(part.words.begin(), part.words.end(), is_it);
  }
  std::optional<std::size_t> last_part(const std::vector<Part>& parts, std::size_t source_word) const {
    for (std::size_t p = parts.size(); p-- > 0;)
      if (holds(parts[p], source_word)) return p;
    return std::nullopt;
  }
  std::optional<std::size_t> first_part(const std::vector<Part>& parts, std::size_t source_word) const {
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (holds(parts[p], source_word)) return p;
    return std::nullopt;
  }

  // The first source word of fixed words stands for all of them.
  std::size_t representative(std::size_t word) const {
    const std::int32_t m = from_[word].mark;
    if (m < 0 || source_.marks[as_size(m)].kind != MarkKind::fixed) return word;
    while (word > 0 && from_[word - 1].mark == m) --word;
    return word;
  }

  // The number of parts before which a mark without words is put.
  std::size_t gap_for(std::int32_t node, std::size_t mark, const std::vector<Part>& parts) const {
    const Range around = node < 0 ? Range{0, source_.text.size()} : source_.marks[as_size(node)].at;
    const std::size_t at = source_.marks[mark].at.begin;
    const auto next = std::lower_bound(from_.begin(), from_.end(), at,
                                       [](const SourceWord& w, std::size_t begin) { return w.at.begin < begin; });
    const bool has_next = next != from_.end() && next->at.end <= around.end,
               has_before = next != from_.begin() && std::prev(next)->at.begin >= around.begin;
    if (source_.marks[mark].before_word) {
      const auto word = has_next ? first_part(parts, representative(as_size(next - from_.begin()))) : std::nullopt;
      const auto other =
          has_before ? first_part(parts, representative(as_size(next - from_.begin()) - 1)) : std::nullopt;
      return word ? *word : other ? *other : 0;
    }
    if (!has_before) return 0;
    if (!has_next) return parts.size();
    const bool touches_before = std::prev(next)->at.end == at, touches_next = next->at.begin == at;
    const auto before = last_part(parts, representative(as_size(next - from_.begin()) - 1)),
               after = first_part(parts, representative(as_size(next - from_.begin())));
    if (after && (!before || (touches_next && !touches_before))) return *after;
    if (before) return *before + 1;
    return in_proportion(node, mark, parts.size());
  }

  void write(std::size_t mark) {
    if (source_.marks[mark].kind == MarkKind::pair) {
      events_.push_back({Event::open, mark});
      inside(static_cast<std::int32_t>(mark), {});
      events_.push_back({Event::close, mark});
    } else {
      events_.push_back({Event::point, mark});
    }
  }

  void inside(std::int32_t node, const std::vector<std::size_t>& words) {
    const std::vector<std::size_t>& children = children_[as_size(node + 1)];
    std::vector<Part> parts;
    if (children.empty()) {
      for (const std::size_t w : words) events_.push_back({Event::word, w});
      return;
    }
    parts = parts_of(level_of(node, words));
    std::vector<bool> has_part(source_.marks.size(), false);
    for (const Part& p : parts)
      if (p.word < 0) has_part[p.mark] = true;
    std::vector<std::vector<std::size_t>> gaps(parts.size() + 1);
    for (const std::size_t m : children)
      if (!has_part[m] && source_.marks[m].kind != MarkKind::fixed) gaps[gap_for(node, m, parts)].push_back(m);
    for (std::size_t p = 0; p <= parts.size(); ++p) {
      for (const std::size_t m : gaps[p]) write(m);
      if (p == parts.size()) break;
      if (parts[p].word >= 0) {
        events_.push_back({Event::word, as_size(parts[p].word)});
        continue;
      }
      events_.push_back({Event::open, parts[p].mark});
      inside(static_cast<std::int32_t>(parts[p].mark), parts[p].words);
      events_.push_back({Event::close, parts[p].mark});
    }
  }

  const Segment& source_;
  const std::vector<SourceWord>& from_;
  const std::vector<TargetWord>& words_;
  std::vector<std::vector<std::size_t>> children_;  ///< of the text, and of each mark
  std::vector<bool> has_words_;                     ///< of each mark, in the source
  std::vector<Event> events_;
};

// Writes the text of the events, and the places of the marks in it.
class Writing {
 public:
  Writing(const Segment& source, const TargetText& target, const std::vector<Event>& events)
      : source_(source), target_(target), events_(events), spaced_(target.words.size(), false) {
    result_.marks = source.marks;
    result_.breaks = source.breaks;
  }

  Segment run() {
    for (at_ = 0; at_ < events_.size(); ++at_) {
      const Event& e = events_[at_];
      Range* const place = e.kind == Event::word ? nullptr : &result_.marks[e.index].at;
      switch (e.kind) {
        case Event::word:
          word(e.index);
          break;
        case Event::open:
          space_of_next();
          place->begin = place->end = result_.text.size();
          break;
        case Event::close:
          place->end = result_.text.size();
          break;
        case Event::point:
          point(e.index);
          break;
      }
    }
    result_.text += target_.tail;
    return std::move(result_);
  }

 private:
  void space(std::size_t w) {
    if (spaced_[w]) return;
    spaced_[w] = true;
    const bool first = result_.text.empty(), moved = last_ ? w != *last_ + 1 : w != 0;
    const std::string& space = target_.words[w].space;
    if (!first || !moved) result_.text += space;
    // A word that stood elsewhere, or behind another word, may have had no space in front of it.
    if (!first && moved && space.empty() && !is_blank(result_.text.back()) &&
        begins_with_word_character(target_.words[w].text) && begins_with_word_character(target_.words[*last_].text))
      result_.text += ' ';
  }
  void word(std::size_t w) {
    space(w);
    const std::size_t begin = result_.text.size();
    result_.text += target_.words[w].text;
    last_ = w;
    if (target_.words[w].fixed >= 0) result_.marks[as_size(target_.words[w].fixed)].at = {begin, result_.text.size()};
  }
  std::optional<std::size_t> next_word() const {
    for (std::size_t e = at_; e < events_.size(); ++e)
      if (events_[e].kind == Event::word) return events_[e].index;
    return std::nullopt;
  }
  // The white space before the next word stays outside of a mark that begins with it.
  void space_of_next() {
    if (const auto next = next_word()) space(*next);
  }
  void point(std::size_t m) {
    const std::size_t at = source_.marks[m].at.begin;
    const std::string& text = source_.text;
    const bool blank_before = at == 0 || is_blank(text[at - 1]), blank_after = at < text.size() && is_blank(text[at]);
    const auto next = next_word();
    const bool has_space = next && !spaced_[*next];
    if (blank_before || source_.marks[m].before_word) space_of_next();
    // Between blanks: a model may have kept both, or made one of them.
    const bool between = has_space && blank_before && blank_after && at > 0 && !result_.text.empty();
    const bool both = between && result_.text.ends_with("  ");
    const std::size_t place = result_.text.size() - (both ? 1 : 0);
    result_.marks[m].at = {place, place};
    if (between && !both) result_.text += ' ';
  }

  const Segment& source_;
  const TargetText& target_;
  const std::vector<Event>& events_;
  std::size_t at_ = 0;
  std::vector<bool> spaced_;         ///< of each word, whether the space before it has been written
  std::optional<std::size_t> last_;  ///< the word written last
  Segment result_;
};

// Exchanges the two ends of a range where the second one would come first.
void order_ends(Segment& segment) {
  if (std::none_of(segment.marks.begin(), segment.marks.end(), [](const Mark& m) { return m.begin >= 0; })) return;
  std::vector<std::size_t> place(segment.marks.size());
  for (std::size_t p = 0; const std::size_t m : marks_as_written(segment)) place[m] = p++;
  for (std::size_t m = 0; m < segment.marks.size(); ++m)
    if (const std::int32_t begin = segment.marks[m].begin; begin >= 0 && place[m] < place[as_size(begin)])
      std::swap(segment.marks[m].open, segment.marks[as_size(begin)].open);
}

}  // namespace

Segment place_marks(const Segment& source, const Translated& translated) {
  if (source.marks.empty()) return {translated.text, {}, source.breaks};
  const std::vector<SourceWord> from = source_words(source);
  const TargetText target = target_words(source, from, translated);
  const std::vector<Event> events = Layout(source, from, target.words).run();
  Segment result = Writing(source, target, events).run();
  order_ends(result);
  return result;
}

}  // namespace tril::document
