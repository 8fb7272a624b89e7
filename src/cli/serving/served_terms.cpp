#include "cli/serving/served_terms.h"

#include <spdlog/spdlog.h>

#include <chrono>

#include "base/printable.h"
#include "base/progress.h"
#include "cli/serving/named_values.h"
#include "language/code.h"
#include "terms/glossary.h"

namespace tril::cli {
namespace {

// A file with the languages before it: "en:de:legal.tsv".
struct LanguageFile {
  terms::LanguagePair pair;
  std::string path;
};

LanguageFile language_file(const std::string& value) {
  const std::size_t first = value.find(':');
  const std::size_t second = first == value.npos ? value.npos : value.find(':', first + 1);
  if (second == value.npos) return {{}, value};
  const std::string source = value.substr(0, first), target = value.substr(first + 1, second - first - 1);
  if (!find_language(source) || !find_language(target)) return {{}, value};
  return {{source, target}, value.substr(second + 1)};
}

// NAME=VALUE; names are written out, since a file's name says little.
std::pair<std::string, std::string> named_file(const std::string& value, const char* flag, const char* form) {
  const auto [name, file] = named(value);
  if (value.find('=') == value.npos || name.empty() || file.empty())
    fail_usage(flag, fmt::format("expected {}, got \"{}\"", form, printable(value)),
               "give it a name, by which requests ask for it");
  return {name, file};
}

}  // namespace

std::shared_ptr<terms::GlossaryLibrary> glossaries_of(const ServeOptions& o) {
  auto store = std::make_unique<terms::GlossaryStore>(o.glossary_dir);
  for (const std::string& note : store->notes()) spdlog::warn("{}", note);
  auto library = std::make_shared<terms::GlossaryLibrary>(std::move(store));
  for (const std::string& value : o.glossaries) {
    const auto [name, text] = named_file(value, "--glossary", "NAME=FILE or NAME=FROM:TO:FILE");
    const LanguageFile file = language_file(text);
    terms::TermTable table = terms::read_term_table(file.path);
    const bool stated = !table.languages.empty() && !table.languages[0].empty();
    if (!stated && file.pair.source.empty())
      fail_usage("--glossary", fmt::format("{} does not state its languages", file.path),
                 fmt::format("put them before the file: --glossary {}=en:de:{}", name, file.path));
    if (!stated) table.languages = {file.pair.source, file.pair.target};
    if (table.languages.size() == 2)  // reports contradictions at the start
      for (const std::string& note : terms::glossary_of(table, {table.languages[0], table.languages[1]}).notes)
        spdlog::warn("{}", note);
    library->add(name, std::move(table));
  }
  return library;
}

std::map<std::string, serve::ServedMemory> memories_of(const ServeOptions& o) {
  std::map<std::string, serve::ServedMemory> memories;
  for (const std::string& value : o.memories) {
    const auto [name, text] = named_file(value, "--memory", "NAME=FROM:TO:FILE");
    const LanguageFile file = language_file(text);
    if (file.pair.source.empty())
      fail_usage("--memory", fmt::format("expected NAME=FROM:TO:FILE, got \"{}\"", printable(value)),
                 fmt::format("put the languages before the file: --memory {}=en:de:{}", name, text));
    const auto begun = std::chrono::steady_clock::now();
    std::vector<std::string> notes;
    auto memory = std::make_shared<const terms::TranslationMemory>(terms::read_memory(file.path, file.pair, notes));
    for (const std::string& note : notes) spdlog::warn("{}", note);
    spdlog::info("translation memory {}: {} sentences, {} MB, read in {:.1f} s", name,
                 format_count(static_cast<std::int64_t>(memory->size())), memory->bytes() / 1'000'000,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    if (!memories.emplace(name, serve::ServedMemory{file.pair, std::move(memory)}).second)
      fail_usage("--memory", fmt::format("two memories are called \"{}\"", printable(name)),
                 "give each a different name");
  }
  return memories;
}

}  // namespace tril::cli
