#include "document/strings/dotnet_resources.h"

#include "document/xml/xml_string.h"
#include "document/xml/xml_string_reader.h"

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

class ResourceReader : XmlStringReader {
 public:
  using XmlStringReader::XmlStringReader;

  void run() {
    for (const pugi::xml_node data : root("root", "is it a resource file of .NET?").children("data"))
      if (const pugi::xml_node value = data.child("value"); value && is_string(data))
        add_segments(document_, xml_segments(document_, value, xml_string_style(role_of_resource)));
  }
};

}  // namespace

std::unique_ptr<Document> read_dotnet_resources(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  ResourceReader(*document, options).run();
  return document;
}

}  // namespace tril::document
