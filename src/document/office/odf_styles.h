// How the character styles of an OpenDocument file look. Office programs give a text that was edited twice, or spell-checked in another
// language, a style of its own that looks like that of its neighbours.
#pragma once

#include <map>
#include <string>

#include "document/xml/xml_nodes.h"

namespace tril::document {

class OdfStyles {
 public:
  explicit OdfStyles(const XmlNodes& nodes);

  /// What is equal for styles that look the same; "" for one that changes nothing, and for no style.
  std::string look_of(const std::string& style) const;

 private:
  std::map<std::string, std::string> looks_;  ///< of the automatic styles, by name
};

}  // namespace tril::document
