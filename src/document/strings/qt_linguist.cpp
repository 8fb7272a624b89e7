#include "document/strings/qt_linguist.h"

#include <algorithm>

#include "base/error.h"
#include "document/segments/document_languages.h"
#include "document/segments/stated_encoding.h"
#include "document/segments/words.h"
#include "document/xml/xml_string.h"
#include "document/xml/xml_string_reader.h"

namespace tril::document {
namespace {

// <byte value="x1b"/> is a character that XML forbids.
XmlRole role_of_qt(const pugi::xml_node&) {
  return {XmlRole::point};
}

// Whether a file may have the element <TS>: TypeScript has <TState>.
bool has_root(std::string_view bytes) {
  constexpr std::string_view name = "<TS";
  std::size_t at = bytes.find(name);
  while (at != std::string_view::npos && bytes.substr(at + name.size(), 1).find_first_of(" \t\r\n/>") != 0)
    at = bytes.find(name, at + 1);
  return at != std::string_view::npos;
}

class QtReader : XmlStringReader {
 public:
  using XmlStringReader::XmlStringReader;

  void run() {
    if (std::string_view(root().name()) != "TS") refuse_other_file(options_.where);
    const std::string stated = root().attribute("language").value();
    check_languages(root().attribute("sourcelanguage").value(), stated, options_);
    if (stated.empty()) {
      std::string code = target_language(options_);
      std::replace(code.begin(), code.end(), '-', '_');
      set_attribute(root(), "language", code);
    }
    messages_of(root());
  }

  [[noreturn]] static void refuse_other_file(const std::string& where) {
    fail(where, "is not a file of Qt Linguist, which has a root element <TS>",
         "tril does not read TypeScript or video; is the name right?");
  }

 private:
  // Messages stand in contexts or, with identifiers, also beside them.
  void messages_of(const pugi::xml_node& parent) {
    for (const pugi::xml_node element : parent.children()) {
      const std::string_view name = element.name();
      if (name == "context") messages_of(element);
      if (name == "message") message(element);
    }
  }

  static bool is_empty(const pugi::xml_node& form) { return is_blank(xml_text_of(form)) && !form.child("byte"); }

  void message(const pugi::xml_node& message) {
    const pugi::xml_node source = message.child("source"), translation = message.child("translation");
    const std::string_view type = translation.attribute("type").value();
    if (!source || !is_empty(translation) || (!type.empty() && type != "unfinished") ||
        std::string_view(translation.attribute("variants").value()) == "yes")
      return;
    // Qt reads no text in the translation of such a message, only forms.
    const bool has_forms = std::string_view(message.attribute("numerus").value()) == "yes";
    const std::string before = has_forms ? "<numerusform>" : "";
    const std::string after = has_forms ? "</numerusform></translation>" : "</translation>";
    if (!translation) {
      const std::size_t end = places_.whole(last_element(message)).end;
      return form(source, {end, end}, indentation_of(source) + "<translation type=\"unfinished\">" + before, after);
    }
    const std::string first = opening(places_.text(places_.open_tag(translation)));
    const std::string tag = type.empty() ? with_attribute(first, "type", "unfinished") : first;
    if (!translation.child("numerusform")) return form(source, places_.whole(translation), tag + before, after);
    if (type.empty()) document_.replace(places_.open_tag(translation), tag);
    for (const pugi::xml_node f : translation.children("numerusform"))
      form(source, places_.whole(f), opening(places_.text(places_.open_tag(f))), "</numerusform>");
  }

  void form(const pugi::xml_node& source, Range at, std::string before, std::string after) {
    add_copy(document_, xml_segments(document_, source, xml_string_style(role_of_qt)),
             {.content = places_.content(source), .at = at, .before = std::move(before), .after = std::move(after)});
  }

  static pugi::xml_node last_element(const pugi::xml_node& parent) {
    pugi::xml_node last = parent.last_child();
    while (last && last.type() != pugi::node_element) last = last.previous_sibling();
    return last;
  }
};

}  // namespace

std::unique_ptr<Document> read_qt_linguist(std::string bytes, const DocumentOptions& options) {
  if (!has_root(bytes)) QtReader::refuse_other_file(options.where);
  check_encoding(bytes, options.where);
  auto document =
      std::make_unique<TextDocument>(with_stated_utf8(std::move(bytes), StatesEncoding::xml, options.where));
  QtReader(*document, options).run();
  return document;
}

}  // namespace tril::document
