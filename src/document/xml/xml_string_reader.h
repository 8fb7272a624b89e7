// What readers of XML files with strings of programs have in common: the nodes of the file and their places.
#pragma once

#include <pugixml.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "document/segments/document.h"
#include "document/xml/xml_places.h"

namespace tril::document {

class XmlStringReader {
 public:
  /// @param document  the file; must outlive the object, as must the options
  /// @throws Error if it is not well-formed XML (xml_file.h)
  XmlStringReader(TextDocument& document, const DocumentOptions& options);

 protected:
  pugi::xml_node root() const { return file_.document_element(); }
  /// The root element. @throws Error with this hint if it has another name
  pugi::xml_node root(std::string_view name, const std::string& hint) const;
  /// Sets an attribute in every translation.
  void set_attribute(const pugi::xml_node& element, std::string_view name, std::string_view value);
  /// The plural categories of the target language (language/plural.h) that are not present. None if the language is not known.
  std::vector<std::string> missing_forms(const std::vector<std::string>& present) const;

  TextDocument& document_;
  const DocumentOptions& options_;
  XmlPlaces places_;

 private:
  pugi::xml_document file_;
};

}  // namespace tril::document
