#include "document/xml/tmx.h"

#include <map>

#include "base/error.h"
#include "base/printable.h"
#include "document/segments/document_languages.h"
#include "document/segments/words.h"
#include "document/xml/xml_string.h"
#include "document/xml/xml_text.h"
#include "format/xml_file.h"

namespace tril::document {
namespace {

pugi::xml_document tmx_file(std::string_view bytes, const std::string& where, XmlText text) {
  pugi::xml_document file = parse_xml(bytes, where, text);
  if (local_name(file.document_element().name()) != "tmx")
    fail(where, "is not TMX: its first element is not <tmx>", "export the memory as TMX 1.4");
  return file;
}

std::string language_of(const pugi::xml_node& tuv) {
  const std::string code = tuv.attribute("xml:lang").value();
  return code.empty() ? tuv.attribute("lang").value() : code;  // as before TMX 1.4
}

XmlRole role_of_tmx(const pugi::xml_node& element) {
  const std::string_view name = local_name(element.name());
  const std::string number = std::string(" ") + element.attribute("i").value();
  if (name == "hi") return {XmlRole::pair};
  if (name == "bpt") return {XmlRole::begins, number};
  if (name == "ept") return {XmlRole::ends, number};
  return {XmlRole::point};
}

// The text of a <seg> without its codes.
std::string text_of_seg(const pugi::xml_node& seg) {
  std::string text;
  for (const pugi::xml_node node : seg.children()) {
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) text += node.value();
    if (local_name(node.name()) == "hi") text += text_of_seg(node);
  }
  return text;
}

// Finds the texts of a language in units. A code is compared once.
class TuvFinder {
 public:
  explicit TuvFinder(std::string language) : language_(std::move(language)) {}

  /// The first <tuv> of the language; the null node if there is none.
  pugi::xml_node find(const pugi::xml_node& tu) {
    for (const pugi::xml_node tuv : tu.children()) {
      if (local_name(tuv.name()) != "tuv") continue;
      const std::string code = language_of(tuv);
      const auto known = same_.find(code);
      if (known != same_.end() ? known->second : (same_[code] = is_same_language(code, language_))) return tuv;
    }
    return {};
  }

 private:
  std::string language_;
  std::map<std::string, bool> same_;
};

template <class Unit>
void for_each_tu(const pugi::xml_document& file, const Unit& unit) {
  for (const pugi::xml_node part : file.document_element().children())
    if (local_name(part.name()) == "body")
      for (const pugi::xml_node tu : part.children())
        if (local_name(tu.name()) == "tu") unit(tu);
}

// The language to translate from: of the options, else of the header.
std::string source_of(const pugi::xml_document& file, const DocumentOptions& options) {
  if (!options.source_language.empty()) return options.source_language;
  for (const pugi::xml_node part : file.document_element().children())
    if (local_name(part.name()) == "header")
      if (std::string stated = part.attribute("srclang").value(); !stated.empty() && stated != "*all*") return stated;
  fail_usage(options.where, "it names no source language", "name the language to translate from");
}

}  // namespace

std::vector<MemoryUnit> read_tmx_memory(std::string_view bytes, const DocumentOptions& options) {
  const pugi::xml_document file = tmx_file(bytes, options.where, XmlText::unescaped);
  TuvFinder sources(options.source_language), targets(options.target_language);
  std::vector<MemoryUnit> units;
  for_each_tu(file, [&](const pugi::xml_node& tu) {
    MemoryUnit unit{text_of_seg(child_element(sources.find(tu), "seg")),
                    text_of_seg(child_element(targets.find(tu), "seg"))};
    if (!is_blank(unit.source) && !is_blank(unit.target)) units.push_back(std::move(unit));
  });
  return units;
}

std::unique_ptr<Document> read_tmx(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  const pugi::xml_document file = tmx_file(document->bytes(), options.where, XmlText::verbatim);
  const XmlPlaces places(document->bytes());
  const std::string source = source_of(file, options), target = target_language(options);
  TuvFinder sources(source), targets(target);
  const XmlTextStyle style{
      .role_of = role_of_tmx, .keeps_space = true, .words = string_words(reference_at, ShortcutKeys::none)};
  bool any = false;
  for_each_tu(file, [&](const pugi::xml_node& tu) {
    const pugi::xml_node tuv = sources.find(tu), seg = child_element(tuv, "seg");
    any = any || seg;
    if (!seg) return;
    std::vector<SlottedSegment> segments = xml_segments(*document, seg, style);
    if (const pugi::xml_node present = targets.find(tu)) {
      // Tools write units that wait for a translation with an empty <seg>.
      const pugi::xml_node empty = child_element(present, "seg");
      if (!empty || !is_blank(xml_text_of(empty))) return;
      const std::string name = empty.name();
      return add_copy(*document, std::move(segments),
                      {.content = places.content(seg),
                       .at = places.whole(empty),
                       .before = opening(places.text(places.open_tag(empty))),
                       .after = "</" + name + ">"});
    }
    // The new element is laid out like that of the source.
    const std::size_t end = places.whole(tu.last_child()).end - white_space(tu.last_child()).size();
    const std::string tag = tuv.attribute("xml:lang") || !tuv.attribute("lang") ? "xml:lang" : "lang";
    XmlCopy copy{.content = places.content(seg), .at = {end, end}, .before = {}, .after = {}};
    copy.before = indentation_of(tuv) + "<" + tuv.name() + " " + tag + "=\"" + attribute_escaped(target) + "\">" +
                  indentation_of(seg) + "<" + seg.name() + ">";
    copy.after =
        std::string("</") + seg.name() + ">" + white_space(tuv.last_child()) + "</" + std::string(tuv.name()) + ">";
    add_copy(*document, std::move(segments), std::move(copy));
  });
  if (!any)
    fail(options.where, fmt::format("has no text in the source language \"{}\"", printable(source)),
         "name the language to translate from");
  return document;
}

}  // namespace tril::document
