#include "document/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/line_of.h"
#include "base/printable.h"
#include "document/string_segment.h"

namespace tril::document {
namespace {

constexpr std::string_view separators = ",;\t";

struct Cell {
  Range at;  // with its quotes
  bool is_quoted = false;
  std::string value;
};

class CsvReader {
 public:
  CsvReader(std::string_view bytes, const DocumentOptions& options)
      : bytes_(bytes), options_(options), at_(bytes.starts_with("\xef\xbb\xbf") ? 3 : 0) {
    if (!options.separator.empty())
      separator_ = options.separator[0];
    else
      separator_ = likeliest_separator();
  }

  char separator() const { return separator_; }

  /// The next row; nothing at the end.
  std::optional<std::vector<Cell>> row() {
    if (at_ >= bytes_.size()) return std::nullopt;
    std::vector<Cell> cells;
    for (;;) {
      cells.push_back(cell());
      if (at_ >= bytes_.size() || bytes_[at_] != separator_) break;
      ++at_;
    }
    if (at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
    if (at_ < bytes_.size() && bytes_[at_] == '\n') ++at_;
    return cells;
  }

 private:
  char likeliest_separator() const {
    std::vector<std::size_t> counts(separators.size());
    bool in_quotes = false;
    for (std::size_t at = at_; at < bytes_.size(); ++at) {
      if (bytes_[at] == '"') in_quotes = !in_quotes;
      if (!in_quotes && bytes_[at] == '\n') break;
      const std::size_t kind = in_quotes ? std::string_view::npos : separators.find(bytes_[at]);
      if (kind != std::string_view::npos) ++counts[kind];
    }
    return separators[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
  }

  bool is_cell_end(std::size_t at) const {
    return at >= bytes_.size() || bytes_[at] == separator_ || bytes_[at] == '\n' || bytes_[at] == '\r';
  }

  Cell cell() {
    Cell cell{.at = {at_, at_}, .is_quoted = at_ < bytes_.size() && bytes_[at_] == '"', .value = {}};
    if (!cell.is_quoted) {
      while (!is_cell_end(at_)) ++at_;
      cell.at.end = at_;
      cell.value = bytes_.substr(cell.at.begin, cell.at.size());
      return cell;
    }
    for (++at_; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] != '"') {
        cell.value += bytes_[at_];
        continue;
      }
      if (at_ + 1 >= bytes_.size() || bytes_[at_ + 1] != '"') break;
      cell.value += bytes_[at_++];
    }
    const auto refuse = [&](const char* what) {
      fail(fmt::format("{}: line {}", options_.where, line_of(bytes_, cell.at.begin)), what,
           "write a quote within a cell twice");
    };
    if (at_ >= bytes_.size()) refuse("its quote is not closed");
    cell.at.end = ++at_;
    if (!is_cell_end(at_)) refuse("text follows the closing quote of a cell");
    return cell;
  }

  std::string_view bytes_;
  const DocumentOptions& options_;
  std::size_t at_;
  char separator_ = ',';
};

std::string list_of(const std::vector<Cell>& header) {
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t c = 0; c < std::min(header.size(), most); ++c)
    list += fmt::format("{}{} ({})", c == 0 ? "" : ", ", c + 1, printable(header[c].value, 40));
  return header.size() > most ? list + ", ..." : list;
}

// The chosen columns, and whether the first row names them.
struct Columns {
  std::vector<bool> chosen;
  bool named = false;
};
Columns columns_of(const std::vector<Cell>& header, const DocumentOptions& options) {
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
    const auto found = std::find_if(header.begin(), header.end(), [&](const Cell& c) { return c.value == name; });
    if (by_number ? number < 1 || number > header.size() : found == header.end())
      fail_usage("columns", fmt::format("{} has no column \"{}\"", options.where, printable(name, 60)),
                 "its columns are " + list_of(header));
    columns.named = columns.named || !by_number;
    columns.chosen[by_number ? number - 1 : static_cast<std::size_t>(found - header.begin())] = true;
  }
  return columns;
}

std::string csv_text(const std::string& text, bool is_quoted, char separator) {
  const bool needs = text.find(separator) != std::string::npos || text.find_first_of("\"\r\n") != std::string::npos;
  if (!is_quoted && !needs) return text;
  std::string s = "\"";
  for (const char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}

}  // namespace

std::unique_ptr<Document> read_csv(std::string bytes, const DocumentOptions& options) {
  auto document = std::make_unique<TextDocument>(std::move(bytes));
  CsvReader reader(document->bytes(), options);
  std::optional<std::vector<Cell>> row = reader.row();
  if (!row) return document;
  const Columns columns = columns_of(*row, options);
  if (columns.named) row = reader.row();
  for (; row; row = reader.row())
    for (std::size_t c = 0; c < std::min(row->size(), columns.chosen.size()); ++c) {
      const Cell& cell = (*row)[c];
      if (!columns.chosen[c]) continue;
      Segment segment = string_segment(cell.value, [](std::string_view s) { return std::string(s); });
      if (!is_worth_translating(segment)) continue;
      document->add({.at = cell.at,
                     .finish = [quoted = cell.is_quoted, separator = reader.separator()](
                                   const std::string& s) { return csv_text(s, quoted, separator); }},
                    std::move(segment));
    }
  return document;
}

}  // namespace tril::document
