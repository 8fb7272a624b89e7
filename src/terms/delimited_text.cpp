#include "terms/delimited_text.h"

#include <algorithm>

#include "base/error.h"
#include "document/strings/delimited_text.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

bool is_blank_row(const document::TextRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(),
                     [](const document::TextCell& cell) { return trim(cell.value).empty(); });
}

TextRow cells_of(document::TextRow row) {
  TextRow cells{row.line, {}};
  for (document::TextCell& cell : row.cells) cells.cells.push_back(std::move(cell.value));
  return cells;
}

}  // namespace

std::vector<TextRow> read_csv(std::string_view text, const std::string& where) {
  std::vector<TextRow> list;
  document::DelimitedText table(text, ',', document::CellQuotes::doubled, where);
  while (auto row = table.row()) {
    for (const document::TextCell& cell : row->cells)
      if (!cell.is_quoted && cell.value.find('"') != std::string::npos)
        fail(fmt::format("{}: line {}", where, row->line),
             "there is a quotation mark within a cell that does not begin with one",
             "put the whole cell in quotation marks, and double those within it");
    if (!is_blank_row(*row)) list.push_back(cells_of(std::move(*row)));
  }
  return list;
}

std::vector<TextRow> read_tsv(std::string_view text, bool comments) {
  std::vector<TextRow> list;
  document::DelimitedText table(text, '\t', document::CellQuotes::none, "");
  while (auto row = table.row()) {
    if (comments && row->cells[0].value.starts_with('#')) continue;
    if (!is_blank_row(*row)) list.push_back(cells_of(std::move(*row)));
  }
  return list;
}

}  // namespace tril::terms
