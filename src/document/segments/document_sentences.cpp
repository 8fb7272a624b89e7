#include "document/segments/document_sentences.h"

#include <algorithm>

namespace tril::document {

DocumentSentences::DocumentSentences(const Document& document, const SegmentOptions& options) : document_(document) {
  for (std::size_t s = 0; s < document.segments().size(); ++s)
    for (const Range& at : sentences_of(document.segments()[s], options)) sentences_.push_back({s, at});
}

std::string DocumentSentences::text(std::size_t sentence) const {
  return sentence_text(segment_of(sentence), sentences_[sentence].at);
}

bool DocumentSentences::any_marks() const {
  return std::any_of(document_.segments().begin(), document_.segments().end(),
                     [](const Segment& s) { return !s.marks.empty(); });
}

std::string DocumentSentences::write(std::string_view language,
                                     const std::function<Translated(std::size_t sentence)>& translation) const {
  std::vector<Segment> translated;
  std::size_t next = 0;
  for (std::size_t s = 0; s < document_.segments().size(); ++s) {
    std::vector<Range> ranges;
    std::vector<Translated> list;
    for (; next < sentences_.size() && sentences_[next].segment == s; ++next) {
      ranges.push_back(sentences_[next].at);
      list.push_back(translation(next));
    }
    translated.push_back(joined(document_.segments()[s], ranges, list, language));
  }
  return document_.write(translated);
}

}  // namespace tril::document
