// Tables of terms as text: CSV [RFC 4180] and TSV. The reader of cells is document/strings/delimited_text.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril::terms {

/// A row of a table.
struct TextRow {
  std::int64_t line = 0;  ///< where it begins, from 1
  std::vector<std::string> cells;
};

/// The rows of CSV text. Cells are separated by commas; a cell in quotation marks may contain commas, line ends and doubled
/// quotation marks. Rows without any text are left out. A byte order mark at the beginning is skipped.
/// @throws Error naming `where` and the line: a quotation mark that is not closed, or text around a quoted cell
std::vector<TextRow> read_csv(std::string_view text, const std::string& where);

/// The rows of TSV text: one on each line, with tabs between the cells, which are taken as they are. Lines without any text are
/// left out. @param comments  whether lines that begin with # are comments
std::vector<TextRow> read_tsv(std::string_view text, bool comments);

}  // namespace tril::terms
