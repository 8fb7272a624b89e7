// How the parts of an OOXML package refer to each other (ECMA-376 part 2, 6.5): each part has a list, "word/_rels/document.xml.rels"
// for "word/document.xml", and names an entry of it by its id.
#pragma once

#include <map>
#include <set>
#include <string>

#include "document/office/package.h"

namespace tril::document {

class Relationships {
 public:
  /// Reads all lists. A part with text that a list names has to be in the package; a picture or a font may be missing.
  /// @throws Error if a list is not well-formed, such a part is missing, or the package has no main part
  explicit Relationships(Package& package);

  /// Checks that a main part's list has what the part calls its sheets or slides.
  /// @throws Error if the part is not well-formed, or names one that is not in the list
  void check_pages(Package& package, const ZipMember& main) const;

 private:
  std::map<std::string, std::set<std::string>> ids_;  ///< of each part's list, by the list's name in lower case
};

}  // namespace tril::document
