#include "terms/delimited_text.h"

#include <algorithm>

#include "base/error.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

bool is_blank_row(const TextRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(), [](const std::string& cell) { return trim(cell).empty(); });
}

[[noreturn]] void fail_at(const std::string& where, std::int64_t line, const std::string& what,
                          const std::string& hint) {
  fail(fmt::format("{}: line {}", where, line), what, hint);
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : text_(without_mark(text)), where_(where) {}

  std::vector<TextRow> rows() {
    std::vector<TextRow> list;
    while (at_ < text_.size()) {
      TextRow row{line_, {}};
      do row.cells.push_back(cell());
      while (take(','));
      if (!end_row())
        fail_at(where_, line_, "there is text after a quoted cell",
                "double each quotation mark within a cell, and quote whole cells only");
      if (!is_blank_row(row)) list.push_back(std::move(row));
    }
    return list;
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool end_row() {
    if (at_ == text_.size()) return true;
    const bool carriage = take('\r');
    if (take('\n') || carriage) {
      ++line_;
      return true;
    }
    return false;
  }
  std::string cell() {
    if (take('"')) return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    if (found.find('"') != found.npos)
      fail_at(where_, line_, "there is a quotation mark within a cell that does not begin with one",
              "put the whole cell in quotation marks, and double those within it");
    at_ = end;
    return std::string(found);
  }
  std::string quoted() {
    const std::int64_t begun = line_;
    std::string text;
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('"', at_), text_.size());
      const std::string_view part = text_.substr(at_, end - at_);
      line_ += std::count(part.begin(), part.end(), '\n');
      text += part;
      at_ = std::min(end + 1, text_.size());
      if (end == text_.size()) break;
      if (!take('"')) return text;
      text += '"';
    }
    fail_at(where_, begun, "a quotation mark is not closed", "close the cell, and double quotation marks within it");
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

std::vector<TextRow> read_csv(std::string_view text, const std::string& where) {
  return CsvReader(text, where).rows();
}

void for_each_line(std::string_view text, const std::function<void(std::string_view line, std::int64_t number)>& use) {
  text = without_mark(text);
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(line, ++number);
  }
}

std::vector<TextRow> read_tsv(std::string_view text, bool comments) {
  std::vector<TextRow> list;
  for_each_line(text, [&](std::string_view line, std::int64_t number) {
    if (comments && line.starts_with('#')) return;
    TextRow row{number, {}};
    for (std::size_t cell = 0; cell <= line.size();) {
      const std::size_t tab = std::min(line.find('\t', cell), line.size());
      row.cells.emplace_back(line.substr(cell, tab - cell));
      cell = tab + 1;
    }
    if (!is_blank_row(row)) list.push_back(std::move(row));
  });
  return list;
}

}  // namespace tril::terms
