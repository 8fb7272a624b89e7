#include "document/strings/android_strings.h"

#include <algorithm>
#include <memory>

#include "document/markup/html.h"
#include "document/segments/document_languages.h"
#include "document/segments/unicode_escape.h"
#include "document/segments/words.h"
#include "document/xml/xml_string.h"
#include "document/xml/xml_string_reader.h"
#include "format/xml_file.h"
#include "unicode/trim.h"

namespace tril::document {
namespace {

// Reads the characters of one string. White space outside of quotes is one blank to Android.
class AndroidCharacters {
 public:
  enum class Place : std::uint8_t { text, cdata };
  explicit AndroidCharacters(Place place) : place_(place) {}

  std::optional<FileCharacter> operator()(std::string_view rest) {
    if (rest[0] == '\\') return escape(rest);
    if (rest[0] == '"') return quote(1);
    if (place_ == Place::text) {
      if (auto reference = reference_at(rest)) return meant(std::move(*reference));
    }
    if (in_quotes_ || (rest[0] != '\n' && rest[0] != '\r')) return std::nullopt;
    const std::size_t end = std::min(rest.find_first_not_of(" \t\r\n"), rest.size());
    return FileCharacter{.kind = FileCharacter::plain, .text = " ", .bytes = end};
  }

 private:
  FileCharacter quote(std::size_t bytes) {
    in_quotes_ = !in_quotes_;
    return {.kind = FileCharacter::quote, .text = "\"", .bytes = bytes};
  }

  static std::optional<FileCharacter> escape(std::string_view rest) {
    if (const auto known = unicode_escape(rest)) return FileCharacter{.text = known->text, .bytes = known->bytes};
    constexpr std::string_view letters = "nt'\"@?#\\", characters = "\n\t'\"@?#\\";
    const std::size_t n = rest.size() > 1 ? letters.find(rest[1]) : std::string_view::npos;
    if (n != std::string_view::npos) return FileCharacter{.text = std::string(1, characters[n]), .bytes = 2};
    // Android's compiler drops a backslash before any other character.
    return FileCharacter{.kind = FileCharacter::point, .bytes = 1};
  }

  // A reference is resolved before quotes, backslashes and white space are read.
  FileCharacter meant(FileCharacter reference) {
    if (reference.text == "\"") return quote(reference.bytes);
    if (reference.text == "\\" || (reference.text == "\n" && in_quotes_)) reference.kind = FileCharacter::point;
    if (reference.text == "\n" || reference.text == "'")
      reference = {.kind = FileCharacter::plain, .text = reference.text == "'" ? "'" : " ", .bytes = reference.bytes};
    return reference;
  }

  Place place_;
  bool in_quotes_ = false;
};

std::string escape_characters(std::string_view text, const Slot& slot, std::string (*escape)(std::string_view)) {
  return escape_each(text, slot, [escape](std::string_view c, std::string_view) -> std::string {
    if (c == "'" || c == "\"" || c == "\\") return "\\" + std::string(c);
    return c == "\n" ? "\\n" : c == "\t" ? "\\t" : escape(c);
  });
}
std::string escape_android(std::string_view text, const Slot& slot) {
  return escape_characters(text, slot, &html_escaped);
}
std::string escape_android_cdata(std::string_view text, const Slot& slot) {
  return escape_cdata(escape_characters(text, slot, [](std::string_view c) { return std::string(c); }), slot);
}

// At the beginning of a string these would begin a reference.
std::string without_reference(const std::string& text) {
  return text.starts_with('@') || text.starts_with('?') ? "\\" + text : text;
}

XmlRole role_of_android(const pugi::xml_node& element) {
  return {local_name(element.name()) == "g" ? XmlRole::fixed : XmlRole::pair};
}

class AndroidReader : XmlStringReader {
 public:
  using XmlStringReader::XmlStringReader;

  void run() {
    const pugi::xml_node resources = root("resources", "of XML files, tril reads Android's string resources");
    if (resources.attribute("tools:locale") && !options_.target_language.empty())
      set_attribute(resources, "tools:locale", target_language(options_));
    for (const pugi::xml_node element : resources.children()) {
      if (std::string_view(element.attribute("translatable").value()) == "false") continue;
      const std::string_view name = element.name();
      if (name == "string") string(element);
      if (name == "string-array" || name == "plurals")
        for (const pugi::xml_node item : element.children("item")) string(item);
      if (name == "plurals") add_forms(element);
    }
  }

 private:
  std::vector<SlottedSegment> segments_of(const pugi::xml_node& element) const {
    const std::string_view text = trim(element.text().get());
    const bool is_reference =
        !text.empty() && (text[0] == '@' || text[0] == '?') && text.find_first_of(" \t\n") == std::string_view::npos;
    if (is_reference && !element.first_child().next_sibling()) return {};
    std::vector<SlottedSegment> segments = xml_segments(
        document_, element,
        {.role_of = role_of_android,
         .keeps_space = true,
         .words = string_words(AndroidCharacters(AndroidCharacters::Place::text), ShortcutKeys::none),
         .escape = &escape_android,
         .cdata_words = string_words(AndroidCharacters(AndroidCharacters::Place::cdata), ShortcutKeys::none),
         .cdata_escape = &escape_android_cdata});
    for (SlottedSegment& s : segments) s.slot.finish = &without_reference;
    return segments;
  }

  void string(const pugi::xml_node& element) { add_segments(document_, segments_of(element)); }

  // Plural forms of the target language that the source has not.
  void add_forms(const pugi::xml_node& plurals) {
    pugi::xml_node other, last;
    std::vector<std::string> quantities;
    for (const pugi::xml_node item : plurals.children("item")) {
      quantities.emplace_back(item.attribute("quantity").value());
      if (quantities.back() == "other") other = item;
      last = item;
    }
    if (!other) return;
    const std::size_t end = places_.whole(last).end;
    for (const std::string& category : missing_forms(quantities)) {
      const std::string tag = opening(places_.text(places_.open_tag(other)));
      add_copy(document_, segments_of(other),
               {.content = places_.content(other),
                .at = {end, end},
                .before = indentation_of(other) + with_attribute(tag, "quantity", category),
                .after = "</item>"});
    }
  }
};

}  // namespace

std::unique_ptr<Document> read_android_strings(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  AndroidReader(*document, options).run();
  return document;
}

}  // namespace tril::document
