#include "search/processors.h"

#include <algorithm>
#include <limits>

namespace tril::search {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

class NoRepeatNgram : public LogitsProcessor {
 public:
  explicit NoRepeatNgram(std::int32_t n) : n_(static_cast<std::size_t>(n)) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto t = rows[r].tokens;
      if (t.size() < n_) continue;
      const auto last = t.last(n_ - 1);
      for (std::size_t i = 0; i + n_ <= t.size(); ++i)
        if (std::equal(last.begin(), last.end(), t.begin() + static_cast<std::ptrdiff_t>(i)))
          logits.forbid(static_cast<std::int64_t>(r), t[i + n_ - 1]);
    }
  }

 private:
  std::size_t n_;
};

class BadWords : public LogitsProcessor {
 public:
  // An EOS alone is never a bad word.
  BadWords(const std::vector<std::vector<std::int32_t>>& words, const std::vector<std::int32_t>& eos_ids) {
    for (const auto& word : words)
      if (word.size() > 1)
        sequences_.push_back(word);
      else if (std::find(eos_ids.begin(), eos_ids.end(), word[0]) == eos_ids.end())
        singles_.push_back(word[0]);
  }
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto t = rows[r].tokens;
      for (std::int32_t id : singles_) logits.forbid(static_cast<std::int64_t>(r), id);
      for (const auto& word : sequences_) {
        const std::size_t n = word.size() - 1;
        if (t.size() >= n && std::equal(t.end() - static_cast<std::ptrdiff_t>(n), t.end(), word.begin()))
          logits.forbid(static_cast<std::int64_t>(r), word.back());
      }
    }
  }

 private:
  std::vector<std::int32_t> singles_;
  std::vector<std::vector<std::int32_t>> sequences_;
};

class MinLength : public LogitsProcessor {
 public:
  explicit MinLength(std::vector<std::int32_t> eos_ids) : eos_ids_(std::move(eos_ids)) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r].generated() < rows[r].request->min_length)
        for (std::int32_t id : eos_ids_) logits.forbid(static_cast<std::int64_t>(r), id);
  }

 private:
  std::vector<std::int32_t> eos_ids_;
};

class ForcedBos : public LogitsProcessor {
 public:
  explicit ForcedBos(std::int32_t id) : id_(id) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r].generated() == 0) logits.force(static_cast<std::int64_t>(r), id_);
  }

 private:
  std::int32_t id_;
};

class ForcedEos : public LogitsProcessor {
 public:
  explicit ForcedEos(std::int32_t id) : id_(id) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r].generated() == rows[r].request->max_length - 1) logits.force(static_cast<std::int64_t>(r), id_);
  }

 private:
  std::int32_t id_;
};

class Suppress : public LogitsProcessor {
 public:
  // position -1: wherever they would come
  Suppress(std::vector<std::int32_t> ids, std::int32_t position) : ids_(std::move(ids)), position_(position) {}
  void apply(std::span<const RowView> rows, StepLogits& logits) const override {
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (position_ < 0 || rows[r].generated() == position_)
        for (std::int32_t id : ids_) logits.forbid(static_cast<std::int64_t>(r), id);
  }

 private:
  std::vector<std::int32_t> ids_;
  std::int32_t position_;
};

}  // namespace

StepLogits::StepLogits(const Context& c, const Tensor& logits, std::span<const float> log_sums)
    : kernels_(&c.kernels()), log_sums_(log_sums) {
  const auto [rows, V] = logits.dims<2>("logits");
  check_dense(logits, DType::f32, "logits");
  check(log_sums.empty() || static_cast<std::int64_t>(log_sums.size()) == rows, "StepLogits", "{} sums for {} rows",
        log_sums.size(), rows);
  values_ = logits.data<float>();
  vocab_size_ = V;
}

void StepLogits::forbid(std::int64_t row, std::int32_t id) {
  kernels_->fill(minus_infinity, values_ + row * vocab_size_ + id, 1);
}

void StepLogits::force(std::int64_t row, std::int32_t id) {
  kernels_->fill(minus_infinity, values_ + row * vocab_size_, static_cast<std::size_t>(vocab_size_));
  kernels_->fill(log_sums_.empty() ? 0.0f : log_sums_[static_cast<std::size_t>(row)], values_ + row * vocab_size_ + id,
                 1);
}

Processors make_processors(const SearchOptions& o) {
  Processors list;
  if (o.no_repeat_ngram > 0) list.push_back(std::make_unique<NoRepeatNgram>(o.no_repeat_ngram));
  if (!o.bad_words.empty()) list.push_back(std::make_unique<BadWords>(o.bad_words, o.eos_ids));
  if (!o.eos_ids.empty()) list.push_back(std::make_unique<MinLength>(o.eos_ids));
  if (o.forced_bos_id >= 0) list.push_back(std::make_unique<ForcedBos>(o.forced_bos_id));
  if (o.forced_eos_id >= 0) list.push_back(std::make_unique<ForcedEos>(o.forced_eos_id));
  if (!o.suppress_ids.empty()) list.push_back(std::make_unique<Suppress>(o.suppress_ids, -1));
  if (!o.begin_suppress_ids.empty())
    list.push_back(std::make_unique<Suppress>(o.begin_suppress_ids, o.forced_bos_id >= 0 ? 1 : 0));
  return list;
}

}  // namespace tril::search
