#include "corpus/pair_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "corpus/columns.h"
#include "tokenizer/files/language_tag.h"
#include "unicode/trim.h"

namespace tril {

namespace {

constexpr auto all = std::numeric_limits<std::int64_t>::max();

const std::vector<std::string>& source_files(const CorpusOptions& options) {
  return options.tsv.empty() ? options.source : options.tsv;
}

ReadOptions how(const CorpusOptions& options) {
  return {.skip_invalid = options.skip_invalid, .refuse_empty = true};
}

}  // namespace

std::string place_of(const CorpusOptions& options, const PairText& pair) {
  return fmt::format("{}: line {}", printable(source_files(options)[pair.set], 400), pair.line);
}

std::string_view tag_of(const CorpusOptions& options, const PairText& pair) {
  return options.tags.empty() || is_blank(pair.source) ? std::string_view() : options.tags[pair.set];
}

std::string tagged_source(const CorpusOptions& options, const PairText& pair) {
  const std::string_view tag = tag_of(options, pair);
  return tag.empty() ? pair.source : fmt::format("{} {}", tag, pair.source);
}

SetReader::SetReader(const CorpusOptions& options, std::size_t set)
    : options_(options), set_(set), source_(source_files(options)[set], how(options)) {
  if (options.tsv.empty()) target_.emplace(options.target[set], how(options));
  if (!options.weights.empty()) weights_.emplace(options.weights[set], ReadOptions{.refuse_empty = true});
  if (!options.alignments.empty()) alignments_.emplace(options.alignments[set], ReadOptions{.refuse_empty = true});
}

void SetReader::fail_unequal() {
  source_.skip(all);
  target_->skip(all);
  fail(target_->name(),
       fmt::format("has {}, but {} has {}: line i of one must be the translation of line i of the other",
                   counted(target_->line_number(), "line"), source_.name(), source_.line_number()),
       "check that the files belong together and neither is truncated");
}

void SetReader::fail_lines(LineReader& of_pairs, std::string_view what) {
  source_.skip(all);
  of_pairs.skip(all);
  fail(of_pairs.name(),
       fmt::format("has {}, but {} has {}: line i of one belongs to line i of the other",
                   counted(of_pairs.line_number(), what), source_.name(), counted(source_.line_number(), "line")),
       fmt::format("give one {} per pair", what));
}

void SetReader::take_columns(PairText& pair) {
  const auto field = [&](int index) {
    const auto found = column(line_, index);
    if (!found)
      fail(fmt::format("{}: line {}", source_.name(), source_.line_number()),
           fmt::format("has {} tab-separated columns, expected column {} too", count_columns(line_), index + 1),
           "each line must be a source, a tab and a target");
    return *found;
  };
  pair.source = field(options_.source_column);
  pair.target = field(options_.target_column);
}

void SetReader::take_weight(PairText& pair, bool at_end) {
  const bool none = weights_->next(line_) == Line::end;
  if (none != at_end) fail_lines(*weights_, "weight");
  if (at_end) return;
  const std::string_view text = trim(line_);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pair.weight);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(pair.weight) || pair.weight < 0)
    fail(fmt::format("{}: line {}", weights_->name(), weights_->line_number()),
         fmt::format("expected a weight of 0 or more, got \"{}\"", text), "give one number per pair, such as 0.5");
}

void SetReader::take_alignment(PairText& pair, bool at_end) {
  const bool none = alignments_->next(line_) == Line::end;
  if (none != at_end) fail_lines(*alignments_, "alignment");
  if (!at_end)
    pair.alignment =
        parse_alignment(line_, fmt::format("{}: line {}", alignments_->name(), alignments_->line_number()));
}

bool SetReader::next(PairText& pair) {
  const Line source = source_.next(target_ ? pair.source : line_);
  const Line target = target_ ? target_->next(pair.target) : source;
  if ((source == Line::end) != (target == Line::end)) fail_unequal();
  if (source != Line::end) {
    pair.valid = source == Line::text && target == Line::text;
    pair.set = set_;
    pair.line = source_.line_number();
    if (!target_ && pair.valid) take_columns(pair);
  }
  if (weights_) take_weight(pair, source == Line::end);
  if (alignments_) take_alignment(pair, source == Line::end);
  return source != Line::end;
}

std::int64_t SetReader::skip(std::int64_t count) {
  const std::int64_t n = source_.skip(count);
  if (target_ && target_->skip(count) != n) fail_unequal();
  if (weights_ && weights_->skip(count) != n) fail_lines(*weights_, "weight");
  if (alignments_ && alignments_->skip(count) != n) fail_lines(*alignments_, "alignment");
  return n;
}

PairReader::PairReader(const CorpusOptions& options, const std::vector<std::int64_t>& sizes)
    : options_(options), readers_(source_files(options).size()) {
  if (sizes.empty()) return;
  order_.emplace(sizes);
  skip_to_round(0);
}

SetReader& PairReader::reader(std::size_t set) {
  if (!readers_[set]) readers_[set] = std::make_unique<SetReader>(options_, set);
  return *readers_[set];
}

bool PairReader::next(PairText& pair) {
  const bool there = order_ ? next_interleaved(pair) : next_in_row(pair);
  position_ += there;
  return there;
}

bool PairReader::next_in_row(PairText& pair) {
  for (; set_ < readers_.size(); ++set_) {
    if (reader(set_).next(pair)) return true;
    readers_[set_].reset();
  }
  return false;
}

bool PairReader::next_interleaved(PairText& pair) {
  while (left_ == 0) {
    if (round_ == order_->rounds()) {
      check_ends();
      return false;
    }
    if (++set_ == readers_.size()) {
      set_ = 0;
      if (++round_ == order_->rounds()) continue;
    }
    left_ = order_->before(set_, round_ + 1) - order_->before(set_, round_);
  }
  --left_;
  if (!reader(set_).next(pair))
    fail(source_files(options_)[set_], "became shorter while it was being read",
         "do not change the training sets during a run");
  return true;
}

// All counted pairs have been read: no side may have more.
void PairReader::check_ends() {
  PairText pair;
  for (std::size_t set = 0; set < readers_.size(); ++set)
    if (reader(set).next(pair))
      fail(source_files(options_)[set], "became longer while it was being read",
           "do not change the training sets during a run");
}

void PairReader::skip(std::int64_t count) {
  if (!order_) return skip_in_row(count);
  const std::int64_t goal = std::min(position_ + count, order_->before(order_->rounds()));
  if (const std::int64_t round = order_->round_of(goal); round > round_) skip_to_round(round);
  for (PairText pair; position_ < goal;) next(pair);
}

void PairReader::skip_in_row(std::int64_t count) {
  while (count > 0 && set_ < readers_.size()) {
    const std::int64_t n = reader(set_).skip(count);
    position_ += n;
    count -= n;
    if (count > 0) readers_[set_++].reset();
  }
}

// Skips from anywhere before `round` to its start.
void PairReader::skip_to_round(std::int64_t round) {
  const auto done = [&](std::size_t set) {  // pairs of a set that have been read
    if (position_ == 0) return std::int64_t{0};
    return set == set_ ? order_->before(set, round_ + 1) - left_ : order_->before(set, round_ + (set < set_));
  };
  for (std::size_t set = 0; set < readers_.size(); ++set)
    if (const std::int64_t n = order_->before(set, round) - done(set); n > 0) reader(set).skip(n);
  position_ = order_->before(round);
  round_ = round;
  set_ = 0;
  left_ = round < order_->rounds() ? order_->before(0, round + 1) - order_->before(0, round) : 0;
}

void check_pairs(const CorpusOptions& options) {
  PairReader reader(options);
  for (PairText pair; reader.next(pair);) {
  }
}

std::vector<std::int64_t> count_pairs(const CorpusOptions& options) {
  std::vector<std::int64_t> sizes;
  for (std::size_t set = 0; set < source_files(options).size(); ++set)
    sizes.push_back(SetReader(options, set).skip(all));
  return sizes;
}

}  // namespace tril
