// The words of a translation, each with the source word that it corresponds to. Fixed words (MarkKind::fixed) are restored:
// they occur exactly once for each mark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/segments/links.h"
#include "document/segments/segment.h"

namespace tril::document {

/// A word of a segment, cut at the edges of marks.
struct SourceWord {
  Range at;
  std::int32_t mark = -1;  ///< the innermost mark around it; -1: none
};
std::vector<SourceWord> source_words(const Segment& source);

struct TargetWord {
  std::string space;         ///< the white space before it
  std::string text;          ///< of fixed words: as in the source
  std::int32_t source = -1;  ///< number of the source word that it corresponds to most; -1: none
  std::int32_t fixed = -1;   ///< number of the mark whose fixed words it is; -1: it is an ordinary word
  bool inserted = false;     ///< fixed words that the translation did not have
  friend bool operator==(const TargetWord&, const TargetWord&) = default;
};

struct TargetText {
  std::vector<TargetWord> words;
  std::string tail;  ///< the white space at the end
};

/// Restores fixed words. A translation may have them as they are or garbled ("% s"), in several copies, or not at all: then
/// they replace what corresponds to them, or are put beside the words that correspond to their neighbours. Other copies of a
/// placeholder that a program replaces (Mark::variable) are removed.
TargetText target_words(const Segment& source, const std::vector<SourceWord>& from, const Translated& translated);

}  // namespace tril::document
