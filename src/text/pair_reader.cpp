#include "text/pair_reader.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "text/columns.h"

namespace tril {

bool PairReader::open() {
  if (source_) return true;
  const ReadOptions how{.skip_invalid = options_.skip_invalid, .refuse_empty = true};
  const auto& files = options_.tsv.empty() ? options_.source : options_.tsv;
  if (file_ == files.size()) return false;
  source_.emplace(files[file_], how);
  if (options_.tsv.empty()) target_.emplace(options_.target[file_], how);
  return true;
}

void PairReader::close() {
  source_.reset();
  target_.reset();
  ++file_;
}

void PairReader::fail_unequal() {
  constexpr auto all = std::numeric_limits<std::int64_t>::max();
  source_->skip(all);
  target_->skip(all);
  fail(target_->name(),
       fmt::format("has {} lines, {} has {}: line i of one is the translation of line i of the other",
                   target_->line_number(), source_->name(), source_->line_number()),
       "check that the files belong together and neither is cut off");
}

void PairReader::take_columns(PairText& pair) {
  const auto field = [&](int index) {
    const auto found = column(line_, index);
    if (!found)
      fail(fmt::format("{}: line {}", source_->name(), source_->line_number()),
           fmt::format("has {} tab-separated columns, column {} is wanted", count_columns(line_), index + 1),
           "check the file, or choose other columns");
    return *found;
  };
  pair.source = field(options_.source_column);
  pair.target = field(options_.target_column);
}

bool PairReader::next(PairText& pair) {
  while (open()) {
    const Line source = source_->next(target_ ? pair.source : line_);
    const Line target = target_ ? target_->next(pair.target) : source;
    if ((source == Line::end) != (target == Line::end)) fail_unequal();
    if (source == Line::end) {
      close();
      continue;
    }
    ++position_;
    pair.valid = source == Line::text && target == Line::text;
    if (!target_ && pair.valid) take_columns(pair);
    return true;
  }
  return false;
}

void PairReader::skip(std::int64_t count) {
  while (count > 0 && open()) {
    const std::int64_t n = source_->skip(count);
    if (target_ && target_->skip(count) != n) fail_unequal();
    position_ += n;
    count -= n;
    if (count > 0) close();
  }
}

}  // namespace tril
