// Puts the marks of a segment into its translation, by word alignment.
//
// Each word of the translation belongs to the marks around the source word that it corresponds to. A pair of tags is put
// around the longest run of its words, which may contain a few others; one whose words have gone gets another word, if there is one
// outside of its siblings. A mark without words is put beside the words that correspond to its neighbours. For any alignment, every
// mark occurs exactly once, within the same parent as in the source, and beside its siblings.
#pragma once

#include "document/segments/links.h"
#include "document/segments/segment.h"

namespace tril::document {

/// The translation with the source's marks, in the source's order, with their places in it. Only fixed words are moved, inserted
/// or removed; white space beside marks may be added.
Segment place_marks(const Segment& source, const Translated& translated);

}  // namespace tril::document
