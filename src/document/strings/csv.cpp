#include "document/strings/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "document/segments/string_segment.h"
#include "document/strings/delimited_text.h"

namespace tril::document {
namespace {

constexpr std::string_view separators = ",;\t";

// The most frequent separator in the first row.
char likeliest_separator(std::string_view bytes) {
  std::vector<std::size_t> counts(separators.size());
  bool in_quotes = false;
  for (const char c : bytes) {
    if (c == '"') in_quotes = !in_quotes;
    if (!in_quotes && c == '\n') break;
    const std::size_t kind = in_quotes ? std::string_view::npos : separators.find(c);
    if (kind != std::string_view::npos) ++counts[kind];
  }
  return separators[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

std::string list_of(const std::vector<TextCell>& header) {
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t c = 0; c < std::min(header.size(), most); ++c)
    list += fmt::format("{}{} ({})", c == 0 ? "" : ", ", c + 1, printable(header[c].value, 40));
  return header.size() > most ? list + ", ..." : list;
}

std::string hint_for(const std::string& name, const std::vector<TextCell>& header) {
  std::vector<std::string> names;
  for (const TextCell& c : header) names.push_back(c.value);
  const std::string near = nearest(name, names);
  const std::string list = "its columns are " + list_of(header);
  return near.empty() ? list : fmt::format("did you mean \"{}\"? {}", printable(near, 60), list);
}

// The chosen columns, and whether the first row names them.
struct Columns {
  std::vector<bool> chosen;
  bool named = false;
};
Columns columns_of(const std::vector<TextCell>& header, const DocumentOptions& options) {
  Columns columns{.chosen = std::vector<bool>(header.size()), .named = false};
  if (options.columns.empty()) {
    if (header.size() > 1)
      fail_usage("columns", fmt::format("{} has several: {}", options.where, list_of(header)),
                 "name those to translate, by number or header");
    columns.chosen[0] = true;
  }
  for (const std::string& name : options.columns) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool by_number = error == std::errc() && end == name.data() + name.size();
    const auto found = std::find_if(header.begin(), header.end(), [&](const TextCell& c) { return c.value == name; });
    if (by_number ? number < 1 || number > header.size() : found == header.end())
      fail_usage("columns", fmt::format("{} has no column \"{}\"", options.where, printable(name, 60)),
                 hint_for(name, header));
    columns.named = columns.named || !by_number;
    columns.chosen[by_number ? number - 1 : static_cast<std::size_t>(found - header.begin())] = true;
  }
  return columns;
}

// How a cell is written.
struct CellForm {
  CellQuotes quotes;
  bool is_quoted;
  char separator;
};
std::string cell_text(std::string text, const CellForm& form) {
  const bool needs = text.find(form.separator) != std::string::npos || text.find_first_of("\r\n") != std::string::npos;
  if (form.quotes == CellQuotes::none) {  // no cell can have these
    if (needs)
      for (const char c : {form.separator, '\r', '\n'}) std::replace(text.begin(), text.end(), c, ' ');
    return text;
  }
  if (!form.is_quoted && !needs && text.find('"') == std::string::npos) return text;
  std::string s = "\"";
  for (const char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}

}  // namespace

std::unique_ptr<Document> read_csv(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  const std::string_view text = document->bytes();
  const char separator = options.separator.empty() ? likeliest_separator(text) : options.separator[0];
  const CellQuotes quotes = separator == '\t' ? quotes_of_tsv(text) : CellQuotes::doubled;
  DelimitedText table(text, separator, quotes, options.where);
  std::optional<TextRow> row = table.row();
  if (!row) return document;
  const Columns columns = columns_of(row->cells, options);
  if (columns.named) row = table.row();
  for (; row; row = table.row())
    for (std::size_t c = 0; c < std::min(row->cells.size(), columns.chosen.size()); ++c) {
      const TextCell& cell = row->cells[c];
      if (!columns.chosen[c]) continue;
      Segment segment = string_segment(cell.value, [](std::string_view s) { return std::string(s); });
      if (!is_worth_translating(segment)) continue;
      document->add({.at = cell.at,
                     .finish = [form = CellForm{quotes, cell.is_quoted, separator}](
                                   std::string s) { return cell_text(std::move(s), form); }},
                    std::move(segment));
    }
  return document;
}

}  // namespace tril::document
