// What a document's segments are, and a "translation" that shows what is translated.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/segments/sentences.h"
#include "unicode/letter_case.h"

namespace tril::document {

/// The document in capital letters, sentence by sentence, with links between equal bytes.
inline std::string capitals_of(const Document& document) {
  std::vector<Segment> translated;
  for (const Segment& s : document.segments()) {
    const std::vector<Range> sentences = sentences_of(s, {});
    std::vector<Translated> list;
    for (const Range at : sentences) {
      const std::string text = sentence_text(s, at);
      Translated t{upper_case(text), {}};
      for (std::size_t i = 0; i < text.size() && t.text.size() == text.size(); ++i)
        t.links.push_back({{i, i + 1}, {i, i + 1}, 1});
      list.push_back(std::move(t));
    }
    translated.push_back(joined(s, sentences, list, "en"));
  }
  return document.write(translated);
}

/// The texts of the segments.
inline std::vector<std::string> texts_of(const Document& document) {
  std::vector<std::string> list;
  for (const Segment& s : document.segments()) list.push_back(s.text);
  return list;
}

}  // namespace tril::document
