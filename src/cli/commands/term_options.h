// The options of `tril translate` for terms and translation memories.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "decode/texts/terminology.h"
#include "decode/texts/translation_text.h"
#include "terms/translation_memory.h"

namespace tril::cli {

struct TermOptions {
  std::optional<std::string> terminology;
  std::vector<std::string> glossary;
  terms::Match match = terms::Match::ignore_case;
  std::optional<std::string> memory;
  terms::MemoryUse memory_use = terms::MemoryUse::exact;

  bool has_terms() const { return terminology.has_value() || !glossary.empty(); }
};

void add_term_fields(Fields& f, TermOptions& o);

/// The terms of all files; null if there are none. Logs the readers' warnings.
/// @throws Error naming a file and a line, or (usage) a file that has other languages
std::shared_ptr<const search::Terminology> terminology_of(const TermOptions& o, const terms::LanguagePair& pair);

/// The memory; null if there is none. @throws Error likewise
std::shared_ptr<const terms::TranslationMemory> memory_of(const TermOptions& o, const terms::LanguagePair& pair);

/// The files, each with what it is called in messages.
std::vector<std::pair<std::string, std::string>> term_files(const TermOptions& o);

}  // namespace tril::cli
