#include "document/strings/string_catalog.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "document/segments/document_languages.h"
#include "document/segments/string_segment.h"
#include "document/strings/json_places.h"
#include "document/strings/json_strings.h"
#include "format/json_file.h"
#include "language/plural.h"

namespace tril::document {
namespace {

std::string escape_catalog_slot(std::string_view text, const Slot&) {
  return json_escaped(text);
}

// JSON to be written, with texts to be translated in it: glue[0] texts[0] glue[1] ... glue[n].
struct NewJson {
  std::vector<std::string> glue{""};
  std::vector<Segment> texts = {};

  void add(std::string_view bytes) { glue.back() += bytes; }
  void add(Segment text) {
    texts.push_back(std::move(text));
    glue.emplace_back();
  }
};

// Writes objects in Xcode's layout, or without any if the file has none.
class CatalogWriter {
 public:
  CatalogWriter(bool is_indented, std::size_t depth) : is_indented_(is_indented), depth_(depth) {}

  void open() {
    json.add("{");
    ++depth_, is_first_ = true;
  }
  void key(std::string_view name) {
    if (!is_first_) json.add(",");
    is_first_ = false;
    line();
    json.add('"' + json_escaped(name) + (is_indented_ ? "\" : " : "\":"));
  }
  void close() {
    --depth_, is_first_ = false;
    line();
    json.add("}");
  }
  void line() {
    if (is_indented_) json.add("\n" + std::string(2 * depth_, ' '));
  }

  NewJson json;

 private:
  bool is_indented_;
  std::size_t depth_;
  bool is_first_ = false;  ///< no member of the object has been written
};

class CatalogReader {
 public:
  CatalogReader(TextDocument& document, const DocumentOptions& options)
      : document_(document),
        where_(options.where),
        bytes_(document.bytes()),
        is_indented_(bytes_.find('\n') != std::string_view::npos),
        language_(target_language(options)),
        categories_(plural_categories(language_)) {}

  void run(const JsonPlace& root) {
    source_language_ = string_at(bytes_, root.find("sourceLanguage"));
    for (const JsonPlace& m : root.find("strings")->members)
      if (m.is_object) entry(m);
  }

 private:
  // Where a localization is written.
  struct Target {
    Range at;
    std::size_t depth;  ///< of its value
    std::string before, after;
  };

  bool is(const JsonPlace* value, std::string_view word) const {
    return value && bytes_.substr(value->at.begin, value->at.size()) == word;
  }

  void entry(const JsonPlace& m) {
    if (is(m.find("shouldTranslate"), "false") || is(m.find("extractionState"), "\"stale\"")) return;
    const JsonPlace* const localizations = m.find("localizations");
    if (localizations && !localizations->is_object) return;
    const JsonPlace* source = nullptr;
    const JsonPlace* existing = nullptr;
    if (localizations)
      for (const JsonPlace& l : localizations->members) {
        if (l.key == source_language_) source = &l;
        if (!existing && is_target(l.key)) existing = &l;
      }
    if (source && existing && source == existing) return;
    Target target{.at = {}, .depth = 4, .before = {}, .after = {}};
    if (existing) {
      if (!is_untranslated(*existing)) return;
      target.at = existing->at;
    } else if (localizations) {
      target = inserted(*localizations, language_, 4);
    } else {
      target = inserted(m, "localizations", 3);
      target.depth = 4;
    }
    CatalogWriter writer(is_indented_, localizations ? 4 : 3);
    if (!localizations) {
      writer.open();
      writer.key(language_);
    }
    localization(writer, source, m.key);
    if (!localizations) writer.close();
    add(std::move(writer.json), std::move(target));
  }

  // Compares each code once.
  bool is_target(const std::string& code) {
    const auto known = same_.find(code);
    return known != same_.end() ? known->second : (same_[code] = is_same_language(code, language_));
  }

  // Whether a localization has one text, which is empty or new.
  bool is_untranslated(const JsonPlace& localization) const {
    if (localization.find("variations") || localization.find("substitutions")) return false;
    const JsonPlace* const unit = localization.find("stringUnit");
    return !unit || string_at(bytes_, unit->find("value")).empty() || is(unit->find("state"), "\"new\"");
  }

  // The place of a new member in an object whose members are sorted by their keys. @param depth  of the object's members
  Target inserted(const JsonPlace& object, std::string_view key, std::size_t depth) const {
    const std::string line = is_indented_ ? "\n" + std::string(2 * depth, ' ') : "";
    const std::string name = '"' + json_escaped(key) + (is_indented_ ? "\" : " : "\":");
    const auto next =
        std::find_if(object.members.begin(), object.members.end(), [&](const JsonPlace& m) { return m.key > key; });
    if (object.members.empty()) {
      const std::string last = is_indented_ ? "\n" + std::string(2 * (depth - 1), ' ') : "";
      return {{object.at.begin + 1, object.at.end - 1}, depth, line + name, last};
    }
    if (next == object.members.end()) {
      const std::size_t end = object.members.back().at.end;
      return {{end, end}, depth, "," + line + name, ""};
    }
    return {{next->key_at.begin, next->key_at.begin}, depth, name, "," + line};
  }

  // A localization, or a variation of one. @param source  null: it has only a key
  void localization(CatalogWriter& out, const JsonPlace* source, const std::string& key) {
    out.open();
    const JsonPlace* const unit = source ? source->find("stringUnit") : nullptr;
    const JsonPlace* const variations = source ? source->find("variations") : nullptr;
    if (unit || !variations) string_unit(out, unit, key);
    if (const JsonPlace* const all = source ? source->find("substitutions") : nullptr) {
      out.key("substitutions");
      out.open();
      for (const JsonPlace& s : all->members) {
        out.key(s.key);
        out.open();
        for (const JsonPlace& m : s.members) {
          if (m.key == "variations") continue;
          out.key(m.key);
          out.json.add(bytes_.substr(m.at.begin, m.at.size()));
        }
        if (const JsonPlace* const nested = s.find("variations")) varied(out, *nested, key);
        out.close();
      }
      out.close();
    }
    if (variations) varied(out, *variations, key);
    out.close();
  }

  void string_unit(CatalogWriter& out, const JsonPlace* unit, const std::string& key) {
    const std::string value = unit ? string_at(bytes_, unit->find("value")) : "";
    Segment text = string_segment(value.empty() ? key : value, json_escaped, ShortcutKeys::none);
    out.key("stringUnit");
    out.open();
    out.key("state");
    out.json.add("\"needs_review\"");
    out.key("value");
    out.json.add("\"");
    if (is_worth_translating(text))
      out.json.add(std::move(text));
    else
      out.json.add(json_escaped(value.empty() ? key : value));
    out.json.add("\"");
    out.close();
  }

  // {"plural": {"one": ..., "other": ...}} or {"device": {"mac": ..., "other": ...}}
  void varied(CatalogWriter& out, const JsonPlace& variations, const std::string& key) {
    out.key("variations");
    out.open();
    for (const JsonPlace& by : variations.members) {
      out.key(by.key);
      out.open();
      const JsonPlace* const other = by.find("other");
      std::vector<std::pair<std::string, const JsonPlace*>> cases;
      const bool was_in_plural = in_plural_;
      if (by.key == "plural" && other) {
        // Each level would multiply the texts.
        if (std::exchange(in_plural_, true))
          fail(where_, fmt::format("the string \"{}\" has a plural variation within another", printable(key, 60)),
               "write one plural variation, or two substitutions");
        // A case "zero" is taken for the number 0 in any language.
        if (const JsonPlace* const zero = by.find("zero")) cases.emplace_back("zero", zero);
        for (const std::string& c : categories_) {
          if (c == "zero" && !cases.empty()) continue;
          const JsonPlace* const same = by.find(c);
          cases.emplace_back(c, same ? same : other);
        }
      } else {
        for (const JsonPlace& c : by.members) cases.emplace_back(c.key, &c);
      }
      for (const auto& [name, source] : cases) {
        out.key(name);
        localization(out, source, key);
      }
      in_plural_ = was_in_plural;
      out.close();
    }
    out.close();
  }

  // Writes the new JSON if any text of it is translated.
  void add(NewJson json, Target target) {
    json.glue.front() = target.before + json.glue.front();
    json.glue.back() += target.after;
    for (std::size_t t = 0; t < json.texts.size(); ++t) {
      const std::string before = json.glue[t], after = t + 1 == json.texts.size() ? json.glue.back() : "";
      document_.add({.at = t == 0 ? target.at : Range{target.at.end, target.at.end},
                     .always = true,
                     .escape = &escape_catalog_slot,
                     .finish = [before, after](const std::string& text) { return before + text + after; }},
                    std::move(json.texts[t]));
    }
  }

  TextDocument& document_;
  const std::string& where_;
  std::string_view bytes_;
  bool is_indented_;
  bool in_plural_ = false;  ///< within the cases of a plural variation
  std::string language_;
  std::vector<std::string> categories_;
  std::string source_language_;
  std::map<std::string, bool> same_;  ///< whether a code is the target language
};

}  // namespace

std::unique_ptr<Document> read_string_catalog(std::string bytes, const DocumentOptions& options) {
  parse_json(std::string_view(bytes).substr(bytes.starts_with("\xef\xbb\xbf") ? 3 : 0), options.where);
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  const JsonPlace root = json_places(document->bytes());
  const JsonPlace* const strings = root.find("strings");
  if (!strings || !strings->is_object || string_at(document->bytes(), root.find("sourceLanguage")).empty())
    fail(options.where, "is not a string catalogue of Xcode", "expected the keys `sourceLanguage` and `strings`");
  check_languages(string_at(document->bytes(), root.find("sourceLanguage")), "", options);
  CatalogReader(*document, options).run(root);
  return document;
}

}  // namespace tril::document
