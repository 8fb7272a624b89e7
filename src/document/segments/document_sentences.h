// All sentences of a document, numbered consecutively, and the document with their translations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "document/segments/document.h"
#include "document/segments/sentences.h"

namespace tril::document {

class DocumentSentences {
 public:
  /// The document must outlive the object.
  DocumentSentences(const Document& document, const SegmentOptions& options);

  std::size_t size() const { return sentences_.size(); }
  /// A sentence as a model reads it.
  std::string text(std::size_t sentence) const;
  /// True if the translation should come with links.
  bool has_marks(std::size_t sentence) const { return !segment_of(sentence).marks.empty(); }
  bool any_marks() const;

  /// The bytes of the document.
  /// @param language     of the translations, as for has_spaces_between_sentences()
  /// @param translation  called once for each sentence, in order. An empty translation leaves the sentence out
  std::string write(std::string_view language,
                    const std::function<Translated(std::size_t sentence)>& translation) const;

 private:
  struct Place {
    std::size_t segment;
    Range at;
  };
  const Segment& segment_of(std::size_t sentence) const { return document_.segments()[sentences_[sentence].segment]; }

  const Document& document_;
  std::vector<Place> sentences_;
};

}  // namespace tril::document
