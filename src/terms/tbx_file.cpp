#include "terms/tbx_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"
#include "format/xml_file.h"
#include "language/code.h"
#include "unicode/letter_case.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

struct StandingName {
  std::string_view name;
  Standing standing;
};
constexpr std::array<StandingName, 7> standings{{{"preferredTerm", Standing::preferred},
                                                 {"admittedTerm", Standing::usual},
                                                 {"deprecatedTerm", Standing::forbidden},
                                                 {"supersededTerm", Standing::forbidden},
                                                 {"legalTerm", Standing::usual},
                                                 {"regulatedTerm", Standing::usual},
                                                 {"standardizedTerm", Standing::usual}}};

std::string_view name_of(const pugi::xml_node& node) {
  return local_name(node.name());
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void append_text(const pugi::xml_node& node, std::string& text) {
  for (const pugi::xml_node& child : node) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) text += child.value();
    if (child.type() == pugi::node_element) append_text(child, text);
  }
}

std::string text_of(const pugi::xml_node& node) {
  std::string text;
  append_text(node, text);
  return std::string(trim(text));
}

// Line ends and indentation within a term are a blank.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!white)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return line;
}

class TbxReader {
 public:
  TbxReader(std::string_view bytes, const std::string& where)
      : bytes_(bytes), where_(where), table_{.name = where, .languages = {}, .concepts = {}, .has_homonyms = true} {}

  TermTable read() {
    const pugi::xml_document document = parse_xml(bytes_, where_);
    const pugi::xml_node root = document.document_element();
    const std::string_view name = name_of(root);
    if (name != "martif" && name != "tbx")
      fail(where_, fmt::format("is not TBX: its root is <{}>", printable(root.name())),
           "expected <martif> (version 2) or <tbx> (version 3)");
    const std::string style = root.attribute("style").value();
    if (!style.empty() && style != "dca" && style != "dct")
      fail(at(root), fmt::format("TBX has no style \"{}\"", printable(style)), "expected dca or dct");
    read_children(root);
    return std::move(table_);
  }

 private:
  std::string at(const pugi::xml_node& node) const { return fmt::format("{}: line {}", where_, line(node)); }
  std::int64_t line(const pugi::xml_node& node) const {
    return line_of(bytes_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug())));
  }

  // Concepts are in <text><body>.
  void read_children(const pugi::xml_node& node) {
    for (const pugi::xml_node& child : node) {
      const std::string_view name = name_of(child);
      if (is_one_of(name, {"text", "body"})) read_children(child);
      if (is_one_of(name, {"termEntry", "conceptEntry"})) read_concept(child);
    }
  }

  void read_concept(const pugi::xml_node& node) {
    Concept one{next_line(node), {}};
    for (const pugi::xml_node& section : node) {
      if (!is_one_of(name_of(section), {"langSet", "langSec"})) continue;
      const std::size_t language = language_of_section(section);
      for (const pugi::xml_node& term : section)
        if (is_one_of(name_of(term), {"tig", "ntig", "termSec"})) read_phrase(term, language, one);
    }
    if (one.phrases.empty()) return;
    table_.concepts.push_back(std::move(one));
    phrases_ += table_.concepts.back().phrases.size();
    if (phrases_ > most_phrases) fail(where_, fmt::format("has more than {} terms", most_phrases), "split the file");
  }

  // Concepts come in the order of the file, so their lines are counted on from the one before.
  std::int64_t next_line(const pugi::xml_node& node) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug()));
    const std::size_t end = std::min(offset, bytes_.size());
    if (end > counted_)
      line_ += std::count(bytes_.begin() + static_cast<std::ptrdiff_t>(counted_),
                          bytes_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    counted_ = std::max(counted_, end);
    return line_;
  }

  std::size_t language_of_section(const pugi::xml_node& section) {
    const std::string code = section.attribute("xml:lang").value();
    if (code.empty()) fail(at(section), "a language section has no xml:lang", "add the language of its terms");
    const auto [known, is_new] = languages_.emplace(lower_case(code), table_.languages.size());
    if (is_new) table_.languages.push_back(code);
    return known->second;
  }

  void read_phrase(const pugi::xml_node& node, std::size_t language, Concept& one) const {
    Phrase phrase{language, {}};
    collect(node, phrase);
    if (phrase.text.empty())
      fail(at(node), "there is no term, or an empty one", "write the term, or remove its section");
    if (phrase.text.size() > longest_phrase)
      fail(at(node),
           fmt::format("a term has {} bytes, but at most {} are possible", phrase.text.size(), longest_phrase),
           "a glossary is for terms; sentences belong in a translation memory");
    one.phrases.push_back(std::move(phrase));
  }

  void collect(const pugi::xml_node& node, Phrase& phrase) const {
    for (const pugi::xml_node& child : node) {
      const std::string_view name = name_of(child);
      const std::string_view type = name == "termNote" ? std::string_view(child.attribute("type").value()) : name;
      if (name == "term")
        phrase.text = on_one_line(text_of(child));
      else if (is_one_of(name, {"termGrp", "termNoteGrp"}))
        collect(child, phrase);
      else if (is_one_of(type, {"administrativeStatus", "normativeAuthorization"}))
        phrase.standing = standing_of(child);
    }
  }

  Standing standing_of(const pugi::xml_node& node) const {
    const std::string text = text_of(node);
    std::string_view name = text;
    if (name.ends_with("-admn-sts")) name.remove_suffix(9);
    for (const StandingName& one : standings)
      if (one.name == name) return one.standing;
    fail(at(node), fmt::format("TBX has no term status \"{}\"", printable(text)),
         "expected preferredTerm, admittedTerm, deprecatedTerm, supersededTerm, legalTerm, regulatedTerm or "
         "standardizedTerm, each with or without -admn-sts");
  }

  std::string_view bytes_;
  const std::string& where_;
  TermTable table_;
  std::map<std::string, std::size_t> languages_;
  std::size_t phrases_ = 0, counted_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

TermTable read_tbx(std::string_view bytes, const std::string& where) {
  return TbxReader(bytes, where).read();
}

}  // namespace tril::terms
