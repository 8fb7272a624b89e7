#include "document/dotnet_resources.h"

#include "base/error.h"
#include "base/printable.h"
#include "document/xml_string.h"
#include "format/xml_file.h"

namespace tril::document {
namespace {

XmlRole role_of_resource(const pugi::xml_node&) {
  return {XmlRole::point};
}

bool is_string(const pugi::xml_node& data) {
  return !data.attribute("type") && !data.attribute("mimetype") &&
         !std::string_view(data.attribute("name").value()).starts_with("&gt;&gt;") &&
         !std::string_view(data.attribute("name").value()).starts_with(">>") &&
         xml_text_of(data.child("comment")).find("{Locked}") == std::string::npos;
}

}  // namespace

std::unique_ptr<Document> read_dotnet_resources(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  const pugi::xml_document file = parse_xml(document->bytes(), options.where, XmlText::verbatim);
  const pugi::xml_node root = file.document_element();
  if (std::string_view(root.name()) != "root")
    fail(options.where, fmt::format("its root element is <{}>, expected <root>", printable(root.name(), 60)),
         "is it a resource file of .NET?");
  for (const pugi::xml_node data : root.children("data"))
    if (const pugi::xml_node value = data.child("value"); value && is_string(data))
      add_segments(*document, xml_segments(*document, value, xml_string_style(role_of_resource)));
  return document;
}

}  // namespace tril::document
