#include "document/xml/xml_string_reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "format/xml_file.h"
#include "language/plural.h"

namespace tril::document {

XmlStringReader::XmlStringReader(TextDocument& document, const DocumentOptions& options)
    : document_(document),
      options_(options),
      places_(document.bytes()),
      file_(parse_xml(document.bytes(), options.where, XmlText::verbatim)) {}

pugi::xml_node XmlStringReader::root(std::string_view name, const std::string& hint) const {
  if (std::string_view(root().name()) != name)
    fail(options_.where, fmt::format("its root element is <{}>, expected <{}>", printable(root().name(), 60), name),
         hint);
  return root();
}

void XmlStringReader::set_attribute(const pugi::xml_node& element, std::string_view name, std::string_view value) {
  const Range tag = places_.open_tag(element);
  document_.replace(tag, with_attribute(places_.text(tag), name, value));
}

std::vector<std::string> XmlStringReader::missing_forms(const std::vector<std::string>& present) const {
  if (options_.target_language.empty()) return {};
  std::vector<std::string> missing = plural_categories(options_.target_language);
  std::erase_if(missing, [&](const std::string& form) {
    return std::find(present.begin(), present.end(), form) != present.end();
  });
  return missing;
}

}  // namespace tril::document
