#include "document/strings/delimited_text.h"

#include <algorithm>

#include "base/error.h"

namespace tril::document {
namespace {

// TSV, read with one meaning of quotation marks.
struct TsvReading {
  bool is_even = true;            ///< all rows have the same number of cells
  bool has_marks_within = false;  ///< a cell that is not quoted has a quotation mark
};
// @throws Error like DelimitedText
TsvReading reading_of(std::string_view text, CellQuotes quotes) {
  DelimitedText table(text, '\t', quotes, "");
  TsvReading reading;
  std::optional<std::size_t> cells;
  while (const std::optional<TextRow> row = table.row()) {
    if (cells && *cells != row->cells.size()) reading.is_even = false;
    cells = row->cells.size();
    for (const TextCell& cell : row->cells)
      if (!cell.is_quoted && cell.value.find('"') != std::string::npos) reading.has_marks_within = true;
  }
  return reading;
}

}  // namespace

bool DelimitedText::is_cell_end() const {
  return at_ >= text_.size() || text_[at_] == separator_ || text_[at_] == '\n' || text_[at_] == '\r';
}

std::optional<TextRow> DelimitedText::row() {
  if (at_ >= text_.size()) return std::nullopt;
  TextRow row{.line = line_};
  for (;;) {
    row.cells.push_back(cell());
    if (at_ >= text_.size() || text_[at_] != separator_) break;
    ++at_;
  }
  if (at_ < text_.size()) {
    const bool carriage = text_[at_] == '\r';
    ++at_, ++line_;
    if (carriage && at_ < text_.size() && text_[at_] == '\n') ++at_;
  }
  return row;
}

TextCell DelimitedText::cell() {
  TextCell cell{.at = {at_, at_}};
  cell.is_quoted = quotes_ == CellQuotes::doubled && at_ < text_.size() && text_[at_] == '"';
  if (!cell.is_quoted) {
    while (!is_cell_end()) ++at_;
    cell.at.end = at_;
    cell.value = text_.substr(cell.at.begin, cell.at.size());
    return cell;
  }
  const std::int64_t begun = line_;
  const auto refuse = [&](const char* what) {
    fail(fmt::format("{}: line {}", where_, begun), what,
         "quote whole cells only, and write a quotation mark within a cell twice");
  };
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
      ++at_;
    }
    if (text_[at_] == '\n') ++line_;
    cell.value += text_[at_];
  }
  if (at_ >= text_.size()) refuse("a quotation mark is not closed");
  cell.at.end = ++at_;
  if (!is_cell_end()) refuse("text follows a quoted cell");
  return cell;
}

CellQuotes quotes_of_tsv(std::string_view text) {
  try {
    if (text.find('"') == std::string_view::npos) return CellQuotes::doubled;
    const TsvReading quoted = reading_of(text, CellQuotes::doubled), unquoted = reading_of(text, CellQuotes::none);
    if (quoted.is_even != unquoted.is_even) return quoted.is_even ? CellQuotes::doubled : CellQuotes::none;
    if (!quoted.has_marks_within) return CellQuotes::doubled;
  } catch (const Error&) {
  }
  return CellQuotes::none;
}

}  // namespace tril::document
