// Reads translation memories: TMX 1.4 (Localization Industry Standards Association, 2005) and TSV.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "document/strings/delimited_text.h"
#include "document/xml/tmx.h"
#include "language/code.h"
#include "terms/translation_memory.h"
#include "unicode/letter_case.h"

namespace tril::terms {
namespace {

void read_pairs(const std::string& path, std::string_view text, TranslationMemory& memory) {
  document::DelimitedText table(text, '\t', document::CellQuotes::none, path);
  while (const auto row = table.row()) {
    const std::vector<document::TextCell>& cells = row->cells;
    if (cells.size() == 1 && cells[0].value.empty()) continue;
    const auto where = [&] { return fmt::format("{}: line {}", path, row->line); };
    if (!is_utf8(text.substr(cells[0].at.begin, cells.back().at.end - cells[0].at.begin)))
      fail(where(), "is not UTF-8", "convert the file, for example with iconv -t UTF-8");
    for (const document::TextCell& cell : cells)  // as in UTF-16
      if (cell.value.find('\0') != cell.value.npos) fail(where(), "has a NUL byte", "save the file as text in UTF-8");
    if (cells.size() < 2) fail(where(), "has no tab", "write a sentence, a tab and its translation on each line");
    memory.add(cells[0].value, cells[1].value);
  }
}

void read_units(const std::string& path, std::string_view bytes, const LanguagePair& pair, TranslationMemory& memory) {
  for (const document::MemoryUnit& unit : document::read_tmx_memory(
           bytes, {.where = path, .source_language = pair.source, .target_language = pair.target}))
    memory.add(unit.source, unit.target);
  if (memory.size() == 0)
    fail_usage(path, fmt::format("has no unit with both {} and {}", printable(pair.source), printable(pair.target)),
               "use a memory of these languages");
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

TranslationMemory read_memory(const std::string& path, const LanguagePair& pair, std::vector<std::string>& notes) {
  const std::string end = lower_case(std::filesystem::path(path).extension().string());
  const bool tmx = end == ".tmx";
  if (!tmx && end != ".tsv" && end != ".tab" && end != ".txt")
    fail_usage(path, "the file name does not show the format of this translation memory",
               "give it the extension .tmx or .tsv");
  if (tmx)
    for (const auto& [code, name] : {std::pair{pair.source, "source"}, std::pair{pair.target, "target"}})
      if (!find_language(code))
        fail_usage(
            path,
            fmt::format(
                "the {} language of the translation is not known, so the units of the memory cannot be selected", name),
            fmt::format(
                "write it as {0}_lang into tokenizer_config.json of the model, give `{0}_language` if the model has "
                "several, or use a .tsv memory",
                name));
  const MappedFile file = MappedFile::open(path);
  if (file.bytes().size() > most_memory_bytes)
    fail(path, fmt::format("has {} bytes, but at most {} are possible", file.bytes().size(), most_memory_bytes),
         "split the memory");
  TranslationMemory memory;
  try {
    if (tmx)
      read_units(path, text_of(file), pair, memory);
    else
      read_pairs(path, text_of(file), memory);
  } catch (const Error& e) {
    if (e.where() == "memory") throw e.within(path).as_failure();  // it is too large
    throw;
  }
  memory.finish();
  if (memory.replaced() > 0)
    notes.push_back(fmt::format("{}: sentences with several translations, of which the last one is used: {}", path,
                                memory.replaced()));
  return memory;
}

}  // namespace tril::terms
