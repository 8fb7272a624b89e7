#include "document/segments/segment_builder.h"

#include <algorithm>
#include <map>

#include "document/segments/words.h"
#include "unicode/characters.h"

namespace tril::document {
namespace {

bool has_letter(std::string_view text) {
  const CharacterKinds& kinds = CharacterKinds::table();
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if ((kinds(c.code) & kind_letter) != 0) return true;
    at += c.length;
  }
  return false;
}

bool is_space_at(std::string_view text, std::size_t at, std::size_t& end) {
  const Character c = character_at(text, at);
  end = at + c.length;
  return (CharacterKinds::table()(c.code) & kind_space) != 0;
}

}  // namespace

void SegmentBuilder::add(Piece::Kind kind, Range raw, std::string_view text) {
  if (kind != Piece::blank && kind != Piece::word) ++marks_;
  pieces_.push_back({kind, raw, std::string(text)});
}

void SegmentBuilder::plain(Range raw) {
  const std::string_view text = raw_text(raw);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = 0, next = 0;
    const bool space = is_space_at(text, at, end);
    while (end < text.size() && is_space_at(text, end, next) == space) end = next;
    const Range part{raw.begin + at, raw.begin + end};
    const std::string_view inside = text.substr(at, end - at);
    if (space && style_.line_ends == LineEnds::break_lines && inside.find_first_of("\r\n") != std::string_view::npos)
      line_break(part);
    else
      add(space ? Piece::blank : Piece::word, part, inside);
    at = end;
  }
}

void SegmentBuilder::character(Range raw, std::string_view text, bool is_spelling) {
  if (style_.line_ends == LineEnds::break_lines && (text == "\n" || text == "\r")) return line_break(raw);
  add(is_blank(text) ? Piece::blank : Piece::word, raw, text);
  pieces_.back().spelled = is_spelling;
}

void SegmentBuilder::open(Range raw, std::string_view name) {
  add(Piece::open, raw, name);
}
void SegmentBuilder::close(Range raw, std::string_view name, std::string_view written) {
  add(Piece::close, raw, name);
  pieces_.back().written = written;
}
void SegmentBuilder::point(Range raw) {
  add(Piece::point, raw, "");
}
void SegmentBuilder::fixed(Range raw, std::string_view text, bool variable) {
  if (is_blank(text)) return point(raw);
  add(Piece::fixed, raw, text);
  pieces_.back().variable = variable;
}
void SegmentBuilder::shortcut(Range raw) {
  point(raw);
  pieces_.back().before_word = true;
}
void SegmentBuilder::line_break(Range raw) {
  add(Piece::blank, raw, "\n");
  pieces_.back().breaks = true;
}

void SegmentBuilder::match_tags() {
  std::vector<std::size_t> open;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    if (pieces_[p].kind == Piece::open && open.size() < most_nested_marks) open.push_back(p);
    if (pieces_[p].kind != Piece::close) continue;
    const auto first =
        std::find_if(open.rbegin(), open.rend(), [&](std::size_t o) { return pieces_[o].text == pieces_[p].text; });
    if (first == open.rend()) continue;
    pieces_[*first].match = p + 1, pieces_[p].match = *first + 1;
    open.erase(std::prev(first.base()), open.end());
  }
  std::map<std::string_view, std::size_t> begins;  // tags without a counterpart: they cross others
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    Piece& piece = pieces_[p];
    if ((piece.kind != Piece::open && piece.kind != Piece::close) || piece.match != 0) continue;
    if (piece.kind == Piece::open)
      begins[piece.text] = p + 1;
    else if (const auto begin = begins.find(piece.text); begin != begins.end())
      piece.begin = begin->second, begins.erase(begin);
    piece.kind = Piece::point;
  }
}

Range SegmentBuilder::trimmed() const {
  std::size_t begin = 0, end = pieces_.size();
  const auto may_go = [&](std::size_t p) {
    return pieces_[p].kind == Piece::blank || (pieces_[p].kind == Piece::point && !pieces_[p].before_word);
  };
  for (bool changed = true; changed && begin < end;) {
    changed = false;
    const auto drop = [&](std::size_t from_begin, std::size_t from_end) {
      begin += from_begin, end -= from_end, changed = true;
    };
    if (may_go(begin)) {
      drop(1, 0);
    } else if (may_go(end - 1)) {
      drop(0, 1);
    } else if (pieces_[begin].kind == Piece::open && pieces_[begin].match == end) {
      drop(1, 1);
    } else if (pieces_[begin].kind == Piece::open && pieces_[begin].match == begin + 2) {
      drop(2, 0);  // an empty pair
    } else if (pieces_[end - 1].kind == Piece::close && pieces_[end - 1].match == end - 1) {
      drop(0, 2);
    }
  }
  return {begin, end};
}

bool SegmentBuilder::is_worth(Range pieces) const {
  return std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(pieces.begin),
                     pieces_.begin() + static_cast<std::ptrdiff_t>(pieces.end), [&](const Piece& p) {
                       return p.kind == Piece::word && (style_.worth == Worth::anything || has_letter(p.text));
                     });
}

std::optional<SlottedSegment> SegmentBuilder::take() {
  match_tags();
  std::optional<SlottedSegment> taken;
  if (const Range left = trimmed(); is_worth(left)) taken = segment_of(left);
  pieces_.clear();
  marks_ = 0;
  return taken;
}

void SegmentBuilder::end() {
  if (std::optional<SlottedSegment> taken = take()) document_->add(std::move(taken->slot), std::move(taken->segment));
}

SlottedSegment SegmentBuilder::segment_of(Range left) const {
  Slot slot{.at = {pieces_[left.begin].raw.begin, pieces_[left.end - 1].raw.end}, .escape = style_.escape};
  Segment segment;
  std::vector<std::size_t> open;                // marks
  std::map<std::size_t, std::int32_t> mark_of;  // of pieces that are points
  for (std::size_t p = left.begin; p < left.end; ++p) {
    const Piece& piece = pieces_[p];
    const std::size_t at = segment.text.size();
    if (piece.spelled) {
      std::string& spelling = slot.spelling[piece.text];
      if (piece.raw.size() > spelling.size()) spelling = raw_text(piece.raw);  // an escape rather than none
    }
    if (piece.breaks) segment.breaks.emplace_back(raw_text(piece.raw));
    const bool is_text = piece.kind == Piece::blank || piece.kind == Piece::word || piece.kind == Piece::fixed;
    if (is_text) segment.text += piece.text;
    if (piece.kind == Piece::close) {
      Mark& m = segment.marks[open.back()];
      m.close = piece.written.empty() ? raw_text(piece.raw) : piece.written, m.at.end = at;
      open.pop_back();
    } else if (piece.kind != Piece::blank && piece.kind != Piece::word) {
      const MarkKind kind = piece.kind == Piece::open    ? MarkKind::pair
                            : piece.kind == Piece::point ? MarkKind::point
                                                         : MarkKind::fixed;
      segment.marks.push_back({kind,
                               {at, segment.text.size()},
                               std::string(raw_text(piece.raw)),
                               {},
                               open.empty() ? -1 : static_cast<std::int32_t>(open.back()),
                               piece.variable,
                               piece.before_word});
      if (kind == MarkKind::pair) open.push_back(segment.marks.size() - 1);
      if (kind == MarkKind::point) mark_of[p + 1] = static_cast<std::int32_t>(segment.marks.size() - 1);
      if (const auto begin = mark_of.find(piece.begin); begin != mark_of.end())
        segment.marks.back().begin = begin->second;
    }
  }
  return {std::move(slot), std::move(segment)};
}

}  // namespace tril::document
