// libFuzzer: any bytes as a glossary of each format and as a translation memory. An Error is fine; the terms of what is accepted are
// found in a text of their own sources.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "document/xml/tmx.h"
#include "must.h"
#include "terms/glossary.h"
#include "terms/term_matcher.h"
#include "terms/translation_memory.h"

namespace {

void check_glossary(const std::string& bytes, tril::terms::TableFormat format) {
  using namespace tril::terms;
  const Glossary glossary = glossary_of(read_term_table(bytes, format, "x"), {"en", "de"});
  const TermMatcher matcher(glossary.entries, {Match::exact, "en"});
  for (const Entry& entry : matcher.entries()) {
    const auto found = matcher.find(entry.source);
    // Addresses and placeholders are no terms.
    for (const FoundTerm& one : found)
      tril::fuzz::must(one.begin < one.end && one.end <= entry.source.size(), "a term is within the text");
  }
}

void check_memory(const std::string& bytes) {
  tril::terms::TranslationMemory memory;
  const auto units =
      tril::document::read_tmx_memory(bytes, {.where = "x", .source_language = "en", .target_language = "de"});
  for (const auto& unit : units) memory.add(unit.source, unit.target);
  memory.finish();
  for (const auto& unit : units) {
    const auto hits = memory.find(unit.source);
    tril::fuzz::must(!memory.exact(unit.source) || !hits.empty(), "an exact hit is a hit");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 4 == 3)
      check_memory(bytes);
    else
      check_glossary(bytes, static_cast<tril::terms::TableFormat>(data[0] % 4));
  } catch (const tril::Error&) {
  }
  return 0;
}
