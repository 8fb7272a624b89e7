#include "document/xml/xliff.h"

#include <array>

#include "base/error.h"
#include "document/segments/document_languages.h"
#include "document/segments/words.h"
#include "document/xml/xml_string.h"
#include "document/xml/xml_text.h"
#include "format/xml_file.h"

namespace tril::document {
namespace {

std::string attribute(const pugi::xml_node& node, const char* name) {
  return node.attribute(name).value();
}

// The first of the attributes that an element has.
std::string first_of(const pugi::xml_node& node, std::initializer_list<const char*> names) {
  for (const char* const name : names)
    if (std::string value = attribute(node, name); !value.empty()) return value;
  return "";
}

XmlRole role_of_version_1(const pugi::xml_node& element) {
  const std::string_view name = local_name(element.name());
  if (name == "mrk") {
    const std::string type = attribute(element, "mtype");
    return {type == "protected" ? XmlRole::fixed : type == "seg" ? XmlRole::boundary : XmlRole::pair};
  }
  if (name == "g") return {XmlRole::pair};
  const std::string number = first_of(element, {"rid", "id"});
  if (name == "bpt" || name == "bx") return {XmlRole::begins, " " + number};
  if (name == "ept" || name == "ex") return {XmlRole::ends, " " + number};
  return {XmlRole::point};
}

XmlRole role_of_version_2(const pugi::xml_node& element) {
  const std::string_view name = local_name(element.name());
  if (name == "mrk") return {attribute(element, "translate") == "no" ? XmlRole::fixed : XmlRole::pair};
  if (name == "pc") return {XmlRole::pair};
  const bool code = name == "sc" || name == "ec";
  if (name == "sc" || name == "sm") return {XmlRole::begins, (code ? " c" : " m") + attribute(element, "id")};
  if (name == "ec" || name == "em") return {XmlRole::ends, (code ? " c" : " m") + attribute(element, "startRef")};
  return {XmlRole::point};
}

class XliffReader {
 public:
  XliffReader(TextDocument& document, const DocumentOptions& options)
      : document_(document),
        places_(document.bytes()),
        options_(options),
        file_(parse_xml(document.bytes(), options.where, XmlText::verbatim)) {}

  void run() {
    const pugi::xml_node root = file_.document_element();
    const std::string version = attribute(root, "version");
    if (local_name(root.name()) != "xliff" || (!version.starts_with("1.") && !version.starts_with("2.")))
      fail(options_.where, "is not XLIFF 1.x or 2.x", "expected <xliff version=\"1.2\"> or <xliff version=\"2.0\">");
    is_version_2_ = version.starts_with("2.");
    if (is_version_2_) languages_of(root, "srcLang", "trgLang");
    walk(root);
  }

 private:
  void languages_of(const pugi::xml_node& element, const char* source, const char* target) {
    check_languages(attribute(element, source), attribute(element, target), options_);
    if (element.attribute(target)) return;
    const Range tag = places_.open_tag(element);
    document_.replace(tag, with_attribute(places_.text(tag), target, target_language(options_)));
  }

  void walk(const pugi::xml_node& parent) {
    for (const pugi::xml_node element : parent.children()) {
      const std::string_view name = local_name(element.name());
      if (name == "file" && !is_version_2_) languages_of(element, "source-language", "target-language");
      if (name == (is_version_2_ ? "segment" : "trans-unit"))
        unit(element);
      else if (name == "file" || name == "body" || name == "group" || name == "unit")
        walk(element);
    }
  }

  bool wants_translation(const pugi::xml_node& unit, const pugi::xml_node& target) const {
    if (inherited_attribute(unit, "translate") == "no" || attribute(unit, "approved") == "yes") return false;
    const std::string state = attribute(is_version_2_ ? unit : target, "state");
    // Tools write empty targets with the inline elements of the source, and in any state but the last ones.
    if (!target || is_blank(xml_text_of(target))) return state != "final" && state != "signed-off";
    return is_version_2_ ? state == "initial" : state == "new" || state == "needs-translation";
  }

  // A <trans-unit>, or a <segment> of XLIFF 2.
  void unit(const pugi::xml_node& unit) {
    const pugi::xml_node source = child_element(unit, "source"), target = child_element(unit, "target");
    if (!source || !wants_translation(unit, target)) return;
    const pugi::xml_node segmented = is_version_2_ ? pugi::xml_node() : child_element(unit, "seg-source");
    const pugi::xml_node& original = segmented ? segmented : source;
    const bool keeps_space = inherited_attribute(source, "xml:space") == "preserve";
    std::vector<SlottedSegment> segments =
        xml_segments(document_, original,
                     {.role_of = is_version_2_ ? role_of_version_2 : role_of_version_1,
                      .keeps_space = keeps_space,
                      .words = string_words(reference_at, ShortcutKeys::none)});
    if (segments.empty()) return;
    if (is_version_2_) {
      const Range tag = places_.open_tag(unit);
      // A writer that changes the state has to update or delete the state of the tool that was there [XLIFF 2.1, attribute subState].
      document_.replace(tag, with_attribute(without_attribute(places_.text(tag), "subState"), "state", "translated"));
    }
    const std::string name = std::string(prefix_of(source.name())) + "target";
    XmlCopy copy{.content = places_.content(original), .at = {}, .before = {}, .after = "</" + name + ">"};
    if (target) {
      copy.at = places_.whole(target);
      copy.before = opening(places_.text(places_.open_tag(target)));
    } else {
      const std::size_t end = places_.whole(original).end;
      copy.at = {end, end};
      copy.before = "<" + name + ">";
    }
    if (!is_version_2_) {
      copy.before = with_attribute(copy.before, "state", "needs-review-translation");
      copy.before = with_attribute(copy.before, "state-qualifier", "mt-suggestion");
    }
    if (!target) copy.before = indentation_of(source) + copy.before;
    add_copy(document_, std::move(segments), std::move(copy));
  }

  TextDocument& document_;
  XmlPlaces places_;
  const DocumentOptions& options_;
  pugi::xml_document file_;
  bool is_version_2_ = false;
};

}  // namespace

std::unique_ptr<Document> read_xliff(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  XliffReader(*document, options).run();
  return document;
}

}  // namespace tril::document
