#include "document/plain_text.h"

#include <algorithm>

#include "document/segment_builder.h"
#include "document/words.h"

namespace tril::document {

std::unique_ptr<Document> read_plain_text(std::string text, PlainSegments segments) {
  auto document = std::make_unique<TextDocument>(std::move(text));
  const std::string& bytes = document->bytes();
  if (segments == PlainSegments::whole) {
    if (!is_blank(bytes)) document->add({.at = {0, bytes.size()}}, {bytes, {}, {}});
    return document;
  }
  if (segments == PlainSegments::prose) {
    SegmentBuilder builder(*document, {LineEnds::break_lines, Worth::anything, nullptr});
    builder.plain({0, bytes.size()});
    builder.end();
    return document;
  }
  SegmentBuilder builder(*document, {LineEnds::are_text, Worth::anything, nullptr});
  constexpr std::string_view mark = "\xef\xbb\xbf";
  for (std::size_t at = bytes.starts_with(mark) ? mark.size() : 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    builder.plain({at, end});
    builder.end();
    at = end + 1;
  }
  return document;
}

}  // namespace tril::document
