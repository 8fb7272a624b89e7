// Fields for terms and translation memories, and what their files hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "decode/texts/terminology.h"
#include "decode/texts/translation_text.h"
#include "model/spec/model.h"
#include "search/plan.h"
#include "terms/translation_memory.h"

namespace tril {

struct TermOptions {
  std::optional<std::string> terminology;
  std::vector<std::string> glossary;
  terms::Match match = terms::Match::ignore_case;
  std::optional<std::string> memory;
  terms::MemoryUse memory_use = terms::MemoryUse::exact;

  bool has_terms() const { return terminology.has_value() || !glossary.empty(); }
};

/// terminology, glossary, glossary-match, memory, memory-use.
void add_term_fields(Fields& f, TermOptions& o);

/// @throws Error(usage) if the search cannot place the phrases of a terminology or glossary
void check_placeable(const TermOptions& o, const model::Model& m, const search::SearchPlan& s);

/// The terms of all files; null if there are none. Logs the readers' warnings.
/// @throws Error naming a file and a line, or (usage) a file that has other languages
std::shared_ptr<const search::Terminology> terminology_of(const TermOptions& o, const terms::LanguagePair& pair);

/// The memory; null if there is none. @throws Error likewise
std::shared_ptr<const terms::TranslationMemory> memory_of(const TermOptions& o, const terms::LanguagePair& pair);

/// The files, each with what it is called in messages.
std::vector<std::pair<std::string, std::string>> term_files(const TermOptions& o);

}  // namespace tril
