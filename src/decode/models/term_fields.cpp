#include "decode/models/term_fields.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>

#include "base/progress.h"
#include "terms/glossary.h"

namespace tril {

void add_term_fields(Fields& f, TermOptions& o) {
  f.add(
       "terminology", &o.terminology,
       "file of required phrase translations, one per line: source phrase, tab, target phrase, compared exactly; needs "
       "a beam, or a language model whose prompt lists them")
      .value_name("FILE");
  f.add("glossary", &o.glossary,
        "glossaries: .tsv, .csv or .tbx; their phrases get their translations, as with `terminology`; if files "
        "contradict each other, the first one takes precedence (docs/terms.md)")
      .value_name("FILE");
  f.add("glossary-match", &o.match,
        "how phrases of glossaries are compared: exact, case (upper and lower case are equal) or stem (inflectional "
        "endings may differ as well)",
        terms::match_names());
  f.add("memory", &o.memory,
        "translation memory, .tmx or .tsv; a line that is in it gets its translation from there, and `json` lists "
        "similar lines")
      .value_name("FILE");
  f.add("memory-use", &o.memory_use,
        "exact: a line that is in the memory gets its translation from there; tell: the model "
        "translates every line, and `json` shows what the memory has",
        terms::memory_use_names());
  f.needs("glossary-match", "glossary", "it says how its phrases are compared");
  f.needs("memory-use", "memory", "it says what the memory is for");
}

void check_placeable(const TermOptions& o, const model::Model& m, const search::SearchPlan& s) {
  if (o.has_terms() && m.has_encoder() && !s.has_beam())
    fail_usage(o.terminology ? "terminology" : "glossary", "needs a beam search to place phrases",
               "pass a beam, for example `beam_size` 8");
}

std::shared_ptr<const search::Terminology> terminology_of(const TermOptions& o, const terms::LanguagePair& pair) {
  if (!o.has_terms()) return nullptr;
  std::vector<std::shared_ptr<const terms::TermMatcher>> matchers;
  if (o.terminology) {
    matchers.push_back(search::read_terminology(*o.terminology));
    if (matchers[0]->entries().empty()) spdlog::warn("{}: contains no phrases", *o.terminology);
  }
  std::vector<terms::Glossary> glossaries;
  for (const std::string& path : o.glossary) {
    glossaries.push_back(terms::glossary_of(terms::read_term_table(path), pair));
    if (glossaries.back().entries.empty()) spdlog::warn("{}: contains no phrases", path);
    for (const std::string& note : glossaries.back().notes) spdlog::warn("{}", note);
  }
  if (!glossaries.empty()) {
    std::vector<const terms::Glossary*> all;
    for (const terms::Glossary& one : glossaries) all.push_back(&one);
    std::size_t left_out = 0;
    std::vector<terms::Entry> entries = terms::merged_entries(all, left_out);
    if (left_out > 0)
      spdlog::warn("phrases that an earlier glossary translates differently, which are left out: {}",
                   format_count(static_cast<std::int64_t>(left_out)));
    const std::string source = pair.source.empty() ? glossaries[0].languages.source : pair.source;
    matchers.push_back(
        std::make_shared<const terms::TermMatcher>(std::move(entries), terms::MatchOptions{o.match, source}));
    for (const std::string& note : matchers.back()->notes()) spdlog::warn("{}", note);
  }
  return std::make_shared<const search::Terminology>(std::move(matchers));
}

std::shared_ptr<const terms::TranslationMemory> memory_of(const TermOptions& o, const terms::LanguagePair& pair) {
  if (!o.memory) return nullptr;
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::string> notes;
  auto memory = std::make_shared<const terms::TranslationMemory>(terms::read_memory(*o.memory, pair, notes));
  for (const std::string& note : notes) spdlog::warn("{}", note);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  spdlog::info("{}: {} sentences, {} MB, read in {:.1f} s", *o.memory,
               format_count(static_cast<std::int64_t>(memory->size())), memory->bytes() / 1'000'000, seconds);
  return memory;
}

std::vector<std::pair<std::string, std::string>> term_files(const TermOptions& o) {
  std::vector<std::pair<std::string, std::string>> files;
  if (o.terminology) files.emplace_back("terminology", *o.terminology);
  for (std::size_t i = 0; i < o.glossary.size(); ++i)
    files.emplace_back(i == 0 ? "glossary" : fmt::format("glossary {}", i + 1), o.glossary[i]);
  if (o.memory) files.emplace_back("memory", *o.memory);
  return files;
}

}  // namespace tril
