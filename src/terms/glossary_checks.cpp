#include "terms/glossary_checks.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "language/code.h"
#include "language/match.h"
#include "terms/units.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

constexpr std::size_t longest_name = 200;  // bytes

}  // namespace

std::size_t bytes_of(const Glossary& glossary) {
  std::size_t bytes = 0;
  for (const Entry& entry : glossary.entries) bytes += entry.source.size() + entry.target.size();
  return bytes;
}

void check_name(const std::string& name) {
  const bool sound =
      !name.empty() && name.size() <= longest_name && is_utf8(name) && name == trim(name) &&
      std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  check(sound, "name", "expected a name of at most {} bytes on one line, got \"{}\"", longest_name,
        printable(name, longest_name));
}

void check_head(const Glossary& glossary) {
  check_name(glossary.name);
  language_of(glossary.languages.source, "source");
  language_of(glossary.languages.target, "target");
}

bool is_same_pair(const Glossary& a, const Glossary& b) {
  return find_language(a.languages.source) == find_language(b.languages.source) &&
         find_language(a.languages.target) == find_language(b.languages.target);
}

void check_entries(const Glossary& glossary, std::size_t most) {
  check(!glossary.entries.empty(), "entries", "there are none");
  check(glossary.entries.size() <= most, "entries", "{} are more than the {} that are allowed", glossary.entries.size(),
        most);
  for (const Entry& entry : glossary.entries)
    for (const std::string* phrase : {&entry.source, &entry.target})
      check(!trim(*phrase).empty() && phrase->size() <= longest_phrase && is_utf8(*phrase), "entries",
            "\"{}\": a phrase has 1 to {} bytes", printable(*phrase), longest_phrase);
  // DeepL's clients read glossaries as TSV, in which a tab or a line end ends a phrase.
  for (const Entry& entry : glossary.entries)
    for (const std::string* phrase : {&entry.source, &entry.target})
      check(std::none_of(phrase->begin(), phrase->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
            "entries", "\"{}\" has a control character, a tab or a line end; remove it", printable(*phrase));
}

bool is_same(const Glossary& a, const Glossary& b) {
  return a.name == b.name && is_same_pair(a, b);
}

}  // namespace tril::terms
