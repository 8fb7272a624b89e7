#include "terms/term_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "language/code.h"
#include "terms/delimited_text.h"
#include "terms/tbx_file.h"
#include "unicode/letter_case.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

enum class ColumnKind : std::uint8_t { phrase, match, note, source_language, target_language };

struct Column {
  ColumnKind kind = ColumnKind::phrase;
  std::size_t language = 0;
};

constexpr std::array note_names{"note", "notes", "comment", "comments", "description"};

std::string place(const std::string& where, const TextRow& row) {
  return fmt::format("{}: line {}", where, row.line);
}

// What a header calls a column; nothing if it is no such name.
std::optional<Column> named_column(const std::string& cell, std::vector<std::string>& languages) {
  const std::string name = lower_case(trim(cell));
  if (name == "match") return Column{ColumnKind::match};
  if (std::find(note_names.begin(), note_names.end(), name) != note_names.end()) return Column{ColumnKind::note};
  if (name == "source_lang" || name == "source_language") return Column{ColumnKind::source_language};
  if (name == "target_lang" || name == "target_language") return Column{ColumnKind::target_language};
  if (name == "source" || name == "target") {
    languages.emplace_back(name);
    return Column{ColumnKind::phrase, languages.size() - 1};
  }
  if (!find_language(name)) return std::nullopt;
  languages.emplace_back(trim(cell));
  return Column{ColumnKind::phrase, languages.size() - 1};
}

// The columns that a first row names; nothing if it is an entry.
std::optional<std::vector<Column>> header_of(const TextRow& row, TermTable& table) {
  std::vector<Column> columns;
  std::vector<std::string> languages;
  for (const std::string& cell : row.cells) {
    const std::optional<Column> column = named_column(cell, languages);
    if (!column) return std::nullopt;
    columns.push_back(*column);
  }
  if (languages.size() < 2) return std::nullopt;
  std::set<std::string> known;
  for (const std::string& language : languages)
    if (!known.insert(lower_case(language)).second)
      fail(place(table.name, row), fmt::format("two columns are called {}", printable(language)),
           "give each column its own language");
  const bool roles = known.contains("source") || known.contains("target");
  if (roles && (languages.size() != 2 || !known.contains("source") || !known.contains("target")))
    fail(place(table.name, row), "expected the columns `source` and `target`, or languages alone",
         "name all columns of phrases by their languages, or two of them source and target");
  if (roles && languages[0] == "target")  // languages[0] is the source
    for (Column& column : columns) column.language = 1 - std::min<std::size_t>(column.language, 1);
  table.languages = roles ? std::vector<std::string>(2) : languages;
  return columns;
}

// The columns of a table without a header.
std::vector<Column> plain_columns(const std::vector<TextRow>& rows, TermTable& table) {
  std::vector<Column> columns{{ColumnKind::phrase, 0}, {ColumnKind::phrase, 1}};
  table.languages = {"", ""};
  const auto has_languages = [](const TextRow& row) {
    return row.cells.size() == 4 && find_language(trim(row.cells[2])) && find_language(trim(row.cells[3]));
  };
  if (!rows.empty() && std::all_of(rows.begin(), rows.end(), has_languages))
    columns.insert(columns.end(), {Column{ColumnKind::source_language}, Column{ColumnKind::target_language}});
  return columns;
}

std::string checked_phrase(const std::string& cell, const std::string& at) {
  std::string phrase(trim(cell));
  if (phrase.size() > longest_phrase)
    fail(at, fmt::format("a phrase has {} bytes, but at most {} are possible", phrase.size(), longest_phrase),
         "a glossary is for terms; sentences belong in a translation memory");
  for (const char c : phrase)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      fail(at, fmt::format("\"{}\" has a control character or a line end", printable(phrase)), "remove it");
  return phrase;
}

class RowReader {
 public:
  RowReader(TermTable& table, const std::vector<Column>& columns) : table_(table), columns_(columns) {
    for (const Column& column : columns) phrases_ += column.kind == ColumnKind::phrase ? 1 : 0;
  }

  void read(TextRow row, TableFormat format) {
    const std::string at = place(table_.name, row);
    while (row.cells.size() > columns_.size() && trim(row.cells.back()).empty()) row.cells.pop_back();
    if (row.cells.size() > columns_.size() || (phrases_ == 2 && row.cells.size() < 2))
      fail(at, fmt::format("expected {} columns, found {}", columns_.size(), row.cells.size()),
           format == TableFormat::tsv
               ? "put one tab between a phrase and its translation"
               : "put one comma between a phrase and its translation; quote phrases with commas");
    Concept entry{row.line, {}};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (columns_[i].kind == ColumnKind::note) continue;
      if (columns_[i].kind == ColumnKind::match)
        entry.match = match_in(row.cells[i], at);
      else if (columns_[i].kind == ColumnKind::phrase)
        add_phrase(entry, columns_[i].language, row.cells[i], at);
      else
        check_language(columns_[i].kind == ColumnKind::source_language ? 0 : 1, row.cells[i], at);
    }
    if (entry.phrases.size() > 1) table_.concepts.push_back(std::move(entry));
  }

 private:
  static std::optional<Match> match_in(const std::string& cell, const std::string& at) {
    const std::string name = lower_case(trim(cell));
    if (name.empty()) return std::nullopt;
    const std::optional<Match> match = find_match(name);
    if (!match)
      fail(at, fmt::format("there is no kind of match \"{}\"", printable(name)), "write exact, case, stem or nothing");
    return match;
  }
  void add_phrase(Concept& entry, std::size_t language, const std::string& cell, const std::string& at) const {
    std::string phrase = checked_phrase(cell, at);
    if (phrase.empty() && phrases_ == 2)
      fail(at, "a phrase is empty", "write both the phrase and its translation, or remove the line");
    if (!phrase.empty()) entry.phrases.push_back({language, std::move(phrase)});
  }
  // All rows have the same pair of languages.
  void check_language(std::size_t side, const std::string& cell, const std::string& at) {
    const std::string code(trim(cell));
    if (!find_language(code))
      fail(at, fmt::format("\"{}\" is not a language code", printable(code)), nearest_language(code));
    std::string& known = table_.languages[side];
    if (known.empty()) known = code;
    if (find_language(known) != find_language(code))
      fail(at, fmt::format("the language is {}, but {} in earlier lines", printable(code), printable(known)),
           "put each pair of languages into its own file, or name columns by languages in the first line");
  }

  TermTable& table_;
  const std::vector<Column>& columns_;
  std::size_t phrases_ = 0;
};

TermTable table_of_rows(std::vector<TextRow> rows, TableFormat format, const std::string& where, bool may_begin) {
  TermTable table{where, {}, {}};
  if (rows.empty()) {
    table.languages = {"", ""};
    return table;
  }
  if (rows.size() > most_phrases)
    fail(where, fmt::format("has {} rows, but at most {} are possible", rows.size(), most_phrases), "split the file");
  const auto header = may_begin ? header_of(rows[0], table) : std::nullopt;
  const std::vector<Column> columns = header ? *header : plain_columns(rows, table);
  RowReader reader(table, columns);
  for (std::size_t i = header ? 1 : 0; i < rows.size(); ++i) reader.read(std::move(rows[i]), format);
  return table;
}

}  // namespace

TableFormat table_format(const std::string& path) {
  const std::string end = lower_case(std::filesystem::path(path).extension().string());
  if (end == ".tsv" || end == ".tab" || end == ".txt") return TableFormat::tsv;
  if (end == ".csv") return TableFormat::csv;
  if (end == ".tbx") return TableFormat::tbx;
  fail_usage(path, "the file name does not show the format of this glossary",
             "give it the extension .tsv, .csv or .tbx");
}

TermTable read_term_table(std::string_view bytes, TableFormat format, const std::string& where,
                          const TableOptions& options) {
  if (format == TableFormat::tbx) return read_tbx(bytes, where);
  if (!is_utf8(bytes)) {
    std::size_t at = 0;
    for (std::int64_t line = 1; at < bytes.size(); ++line) {
      const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
      if (!is_utf8(bytes.substr(at, end - at)))
        fail(fmt::format("{}: line {}", where, line), "is not UTF-8",
             "convert the file, for example with iconv -t UTF-8");
      at = end + 1;
    }
  }
  std::vector<TextRow> rows = format == TableFormat::csv ? read_csv(bytes, where) : read_tsv(bytes, options.comments);
  return table_of_rows(std::move(rows), format, where, options.header);
}

TermTable read_term_table(const std::string& path) {
  const TableFormat format = table_format(path);
  return read_term_table(read_text(path, most_glossary_bytes), format, path);
}

}  // namespace tril::terms
