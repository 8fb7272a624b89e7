#include "cli/io/matching_lines.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/number_text.h"

namespace tril::cli {

MatchingLines::MatchingLines(const std::string& path, std::size_t capacity, const Passage& passage)
    : path_(path), lines_(path, capacity, {.skip_invalid = false, .refuse_empty = false}, passage) {}

std::vector<std::string> MatchingLines::next(std::size_t count) {
  std::vector<std::string> list;
  while (list.size() < count) {
    std::vector<std::string> more = lines_.next(count - list.size());
    if (more.empty()) fail(path_, fmt::format("has {}, but the text has more", counted(read_ + list.size(), "line")));
    std::move(more.begin(), more.end(), std::back_inserter(list));
  }
  read_ += count;
  return list;
}

void MatchingLines::check_end() {
  if (!lines_.next(1).empty()) fail(path_, fmt::format("has more lines than the text, which has {}", read_));
}

}  // namespace tril::cli
