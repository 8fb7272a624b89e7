#include "cli/options/line_sources.h"

#include <vector>

#include "base/error.h"

namespace tril::cli {
namespace {

std::vector<Language> detectable(const KnownLanguages& names) {
  if (names.empty())
    fail_usage("--source-language", "auto chooses among language tokens, and the model has none",
               "leave it out: the model has one source language");
  std::vector<Language> languages;
  for (std::size_t i = 0; i < names.names().size(); ++i)
    if (names.language(i) && is_detectable(*names.language(i))) languages.push_back(*names.language(i));
  return languages;
}

}  // namespace

LineSources::LineSources(const Tokenizer& tokenizer) : names_(tokenizer.languages()), detector_(detectable(names_)) {}

LineSources::Source LineSources::of(const std::string& line) const {
  const Detection found = detector_.detect(line);
  if (found.guesses.empty()) return {};
  const auto at = names_.find(detector_.languages()[found.guesses[0].language]);
  return {at ? names_.names()[*at] : "", found.guesses[0].confidence};
}

std::string LineSources::counted(const std::string& line) {
  Source source = of(line);
  if (source.confidence < least_confidence && line.find_first_not_of(" \t\r") != line.npos) ++uncertain_;
  return std::move(source.name);
}

}  // namespace tril::cli
