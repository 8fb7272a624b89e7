#include "document/office/paragraph_builder.h"

#include <algorithm>
#include <map>

#include "document/markup/html.h"
#include "document/segments/string_segment.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

class ParagraphBuilder {
 public:
  ParagraphBuilder(Paragraph paragraph, std::vector<Inline> inlines)
      : paragraph_(std::move(paragraph)), inlines_(std::move(inlines)), counterpart_(inlines_.size()) {}

  void run(XmlPart& part) {
    for (Inline& x : inlines_)  // a line end in a file's text is a blank
      if (x.kind != Inline::boundary)
        std::replace_if(
            x.words.begin(), x.words.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    part_wide_blanks();
    match_tags();
    if (mark_count() > most_marks) divide_at_marks();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < inlines_.size(); ++i) {
      if (inlines_[i].kind != Inline::boundary) continue;
      add_piece({begin, i});
      glue_ += code(inlines_[i]);
      begin = i + 1;
    }
    add_piece({begin, inlines_.size()});
    if (segments_.empty()) return;
    paragraph_.glue.push_back(std::move(glue_));
    part.add(std::move(paragraph_), std::move(segments_));
  }

 private:
  bool is_blank_text(const Inline& x) const { return x.kind == Inline::text && is_blank(x.words); }

  // Several blanks of properties of their own, such as an underlined gap in a form, keep their place.
  void part_wide_blanks() {
    const Inline* before = nullptr;
    for (std::size_t i = 0; i < inlines_.size(); ++i) {
      Inline& x = inlines_[i];
      if (x.kind != Inline::text) continue;
      const auto next = std::find_if(inlines_.begin() + static_cast<std::ptrdiff_t>(i) + 1, inlines_.end(),
                                     [](const Inline& n) { return n.kind == Inline::text; });
      const bool alone = (!before || before->properties != x.properties) &&
                         (next == inlines_.end() || next->properties != x.properties);
      if (alone && x.words.size() > 1 && is_blank(x.words)) x.kind = Inline::boundary;
      before = &x;
    }
  }

  // Finds the counterparts of tags. Tags around a boundary, and tags that are nested too deeply, are boundaries.
  void match_tags() {
    std::vector<std::size_t> open;
    std::size_t divided = 0;  // the outermost pairs that have a boundary in them
    for (std::size_t i = 0; i < inlines_.size(); ++i) {
      if (inlines_[i].kind == Inline::open) {
        open.push_back(i);
      } else if (inlines_[i].kind == Inline::close) {
        counterpart_[i] = open.back(), counterpart_[open.back()] = i;
        if (open.size() <= divided || open.size() + 1 >= most_nested_marks)
          inlines_[i].kind = inlines_[open.back()].kind = Inline::boundary;
        open.pop_back();
        divided = std::min(divided, open.size());
        if (inlines_[i].kind == Inline::boundary) divided = open.size();
      } else if (inlines_[i].kind == Inline::boundary) {
        divided = open.size();
      }
    }
  }

  std::size_t mark_count() const {
    std::size_t count = 0;
    const Inline* before = nullptr;
    for (const Inline& x : inlines_) {
      if (x.kind != Inline::text && x.kind != Inline::boundary) ++count;
      if (x.kind != Inline::text) continue;
      if (before && before->properties != x.properties) ++count;
      before = &x;
    }
    return count;
  }
  // A paragraph of too many marks: each stretch of text of the same properties is a segment.
  void divide_at_marks() {
    std::vector<Inline> divided;
    for (Inline& x : inlines_) {
      if (x.kind != Inline::text) x.kind = Inline::boundary;
      const bool parts = x.kind == Inline::text && !divided.empty() && divided.back().kind == Inline::text &&
                         divided.back().properties != x.properties;
      if (parts) divided.push_back({.kind = Inline::boundary});
      divided.push_back(std::move(x));
    }
    inlines_ = std::move(divided);
  }

  std::string code(const Inline& x) const {
    if (x.raw.empty()) return x.words.empty() ? "" : properties_code(x.properties) + html_escaped(x.words);
    return x.within_run ? properties_code(x.properties) + within_run_code(x.raw) : beside_runs_code(x.raw);
  }
  void add_glue(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) glue_ += code(inlines_[i]);
  }

  // Without white space and points at the edges, and without pairs around everything.
  Range trimmed(Range piece) const {
    auto [begin, end] = piece;
    const auto may_go = [&](std::size_t i) {
      const Inline& x = inlines_[i];
      return x.kind == Inline::point || x.kind == Inline::line_break || is_blank_text(x);
    };
    for (bool changed = true; changed && begin < end;) {
      const Range before{begin, end};
      if (may_go(begin))
        ++begin;
      else if (may_go(end - 1))
        --end;
      else if (inlines_[begin].kind == Inline::open && counterpart_[begin] == end - 1)
        ++begin, --end;
      else if (inlines_[begin].kind == Inline::open && counterpart_[begin] == begin + 1)
        begin += 2;
      else if (inlines_[end - 1].kind == Inline::close && counterpart_[end - 1] + 2 == end)
        end -= 2;
      changed = !(before == Range{begin, end});
    }
    return {begin, end};
  }

  void add_piece(Range piece) {
    const Range left = trimmed(piece);
    add_glue(piece.begin, left.begin);
    segment_ = {};
    mark_of_.clear();
    const std::size_t context = context_of(left, 0);
    add_level(left, -1, context);
    segment_.keeps_breaks = !segment_.breaks.empty();
    if (left.empty() || !is_worth_translating(segment_)) {
      add_glue(left.begin, piece.end);
      return;
    }
    paragraph_.glue.push_back(std::move(glue_) + properties_code(context));
    segments_.push_back(std::move(segment_));
    glue_.clear();
    add_glue(left.end, piece.end);
  }

  // The properties of most text that stands directly in a pair or a piece.
  std::size_t context_of(Range level, std::size_t around) const {
    std::map<std::size_t, std::size_t> bytes;
    std::size_t best = around, most = 0;
    for (std::size_t i = level.begin; i < level.end; ++i) {
      const Inline& x = inlines_[i];
      if (x.kind == Inline::open) i = counterpart_[i];
      if (x.kind != Inline::text || is_blank(x.words)) continue;
      const std::size_t sum = bytes[x.properties] += x.words.size();
      if (sum > most) best = x.properties, most = sum;
    }
    return best;
  }

  // The properties of the next text before a pair begins or ends.
  std::size_t next_properties(std::size_t i, std::size_t end, std::size_t otherwise) const {
    for (; i < end && inlines_[i].kind != Inline::open; ++i)
      if (inlines_[i].kind == Inline::text) return inlines_[i].properties;
    return otherwise;
  }

  std::int32_t add_mark(MarkKind kind, std::int32_t parent, std::string open, std::string close) {
    const std::size_t at = segment_.text.size();
    segment_.marks.push_back({kind, {at, at}, std::move(open), std::move(close), parent});
    return static_cast<std::int32_t>(segment_.marks.size() - 1);
  }
  void end_mark(std::int32_t mark) { segment_.marks[static_cast<std::size_t>(mark)].at.end = segment_.text.size(); }

  // Adds the content of a pair, or of the piece. @param context  the properties of text that is in no pair of its own
  void add_level(Range level, std::int32_t parent, std::size_t context) {
    std::int32_t group = -1;  // a pair of text of other properties
    std::size_t current = context;
    const auto use = [&](std::size_t properties) {
      if (properties == current) return;
      if (group >= 0) end_mark(group);
      group = -1, current = properties;
      if (current != context)
        group = add_mark(MarkKind::pair, parent, properties_code(current), properties_code(context));
    };
    for (std::size_t i = level.begin; i < level.end; ++i) {
      const Inline& x = inlines_[i];
      if (x.kind == Inline::text) {
        if (!is_blank(x.words)) use(x.properties);
        segment_.text += x.words;
        continue;
      }
      if (x.kind == Inline::open) {
        use(context);
        const Range inside{i + 1, counterpart_[i]};
        const std::size_t context_inside = context_of(inside, context);
        const std::int32_t pair = add_mark(MarkKind::pair, parent, code(x) + properties_code(context_inside),
                                           code(inlines_[inside.end]) + properties_code(context));
        add_level(inside, pair, context_inside);
        end_mark(pair);
        i = inside.end;
        continue;
      }
      if (next_properties(i + 1, level.end, context) != current) use(context);
      if (x.kind == Inline::line_break) {
        segment_.text += '\n';
        segment_.breaks.push_back(x.within_run ? within_run_code(x.raw) : beside_runs_code(x.raw));
        continue;
      }
      const std::int32_t mark = add_mark(x.kind == Inline::fixed ? MarkKind::fixed : MarkKind::point,
                                         group >= 0 ? group : parent, code(x), properties_code(current));
      if (x.kind == Inline::fixed) segment_.text += x.words;
      mark_of_[i + 1] = mark;
      if (const auto begin = mark_of_.find(x.begin); begin != mark_of_.end())
        segment_.marks[static_cast<std::size_t>(mark)].begin = begin->second;
      end_mark(mark);
    }
    if (group >= 0) end_mark(group);
  }

  Paragraph paragraph_;
  std::vector<Inline> inlines_;
  std::vector<std::size_t> counterpart_;  ///< of each tag
  std::string glue_;                      ///< since the last segment
  Segment segment_;
  std::map<std::size_t, std::int32_t> mark_of_;  ///< of the segment's points and fixed words, by their numbers + 1
  std::vector<Segment> segments_;
};

}  // namespace

void add_paragraph(XmlPart& part, Paragraph paragraph, std::vector<Inline> inlines) {
  ParagraphBuilder(std::move(paragraph), std::move(inlines)).run(part);
}

}  // namespace tril::document
