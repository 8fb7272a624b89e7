#include "document/markup/plain_text.h"

#include <algorithm>

#include "document/segments/segment_builder.h"
#include "document/segments/words.h"

namespace tril::document {
namespace {

// The first "[X12X]" at or after a byte; an empty range at the end if there is none.
Range find_stand_in(std::string_view text, std::size_t from) {
  constexpr std::size_t most_digits = 9;
  for (std::size_t begin = text.find("[X", from); begin != text.npos; begin = text.find("[X", begin + 1)) {
    const std::size_t digits = begin + 2;
    std::size_t end = digits;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > digits && end - digits <= most_digits && text.substr(end, 2) == "X]") return {begin, end + 2};
  }
  return {text.size(), text.size()};
}

// The whole text, byte for byte.
Segment whole_segment(const std::string& text) {
  Segment segment{text, {}, {}};
  for (Range at = find_stand_in(text, 0); !at.empty() && segment.marks.size() < most_marks;
       at = find_stand_in(text, at.end))
    segment.marks.push_back(
        {.kind = MarkKind::fixed, .at = at, .open = text.substr(at.begin, at.size()), .close = {}, .variable = true});
  return segment;
}

void add_text(SegmentBuilder& builder, const std::string& bytes, Range at) {
  const std::string_view text(bytes.data(), at.end);
  while (!at.empty()) {
    const Range mark = builder.is_full() ? Range{at.end, at.end} : find_stand_in(text, at.begin);
    builder.plain({at.begin, mark.begin});
    if (!mark.empty()) builder.fixed(mark, text.substr(mark.begin, mark.size()), true);
    at.begin = mark.end;
  }
}

}  // namespace

std::unique_ptr<Document> read_plain_text(std::string text, PlainSegments segments) {
  auto document = std::make_unique<TextDocument>(std::move(text));
  const std::string& bytes = document->bytes();
  if (segments == PlainSegments::whole) {
    if (!is_blank(bytes)) document->add({.at = {0, bytes.size()}}, whole_segment(bytes));
    return document;
  }
  if (segments == PlainSegments::prose) {
    SegmentBuilder builder(*document, {LineEnds::break_lines, Worth::anything, nullptr});
    add_text(builder, bytes, {0, bytes.size()});
    builder.end();
    return document;
  }
  SegmentBuilder builder(*document, {LineEnds::are_text, Worth::anything, nullptr});
  constexpr std::string_view mark = "\xef\xbb\xbf";
  for (std::size_t at = bytes.starts_with(mark) ? mark.size() : 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    add_text(builder, bytes, {at, end});
    builder.end();
    at = end + 1;
  }
  return document;
}

}  // namespace tril::document
