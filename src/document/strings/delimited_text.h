// Tables as text: rows of cells between separators, as CSV [RFC 4180] and TSV have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

/// What quotation marks mean.
enum class CellQuotes : std::uint8_t {
  none,     ///< characters like others, as in the media type text/tab-separated-values
  doubled,  ///< around a cell, in which separators, line ends and doubled quotation marks may stand [RFC 4180]
};

struct TextCell {
  Range at;  ///< with its quotation marks
  bool is_quoted = false;
  std::string value = {};
};
struct TextRow {
  std::int64_t line = 0;  ///< where it begins, from 1
  std::vector<TextCell> cells = {};
};

/// Reads rows. A line ends with CR LF, LF or CR; a byte order mark at the beginning is skipped.
class DelimitedText {
 public:
  /// @param text  must outlive the object
  /// @param where  names the text in errors
  DelimitedText(std::string_view text, char separator, CellQuotes quotes, std::string where)
      : text_(text),
        separator_(separator),
        quotes_(quotes),
        where_(std::move(where)),
        at_(text.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  /// The next row; nothing at the end. An empty line is a row of one empty cell.
  /// @throws Error naming the line: a quotation mark that is not closed, or text behind a quoted cell
  std::optional<TextRow> row();

 private:
  TextCell cell();
  bool is_cell_end() const;

  std::string_view text_;
  char separator_;
  CellQuotes quotes_;
  std::string where_;
  std::size_t at_;
  std::int64_t line_ = 1;
};

/// What quotation marks mean in TSV. They are ordinary characters if some cell begins with one but is not a quoted cell
/// (`"Hello" he said`), if only this reading gives all rows the same number of cells, or if both readings do and a cell
/// that is not quoted has one (`5" pipe`). Else they quote cells.
CellQuotes quotes_of_tsv(std::string_view text);

}  // namespace tril::document
