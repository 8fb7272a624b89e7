#include "nn/kv_cache.h"

#include <algorithm>
#include <numeric>

namespace tril::nn {

KvCache::KvCache(Context& c, Sizes sizes)
    : context_(&c), sizes_(sizes), layers_(static_cast<std::size_t>(sizes.num_layers)) {}

void KvCache::add_rows(std::int64_t n) {
  rows_.resize(rows_.size() + static_cast<std::size_t>(n));
}

void KvCache::release(std::int32_t slot) {
  if (--references_[static_cast<std::size_t>(slot)] == 0) free_.push_back(slot);
}

void KvCache::reorder(std::span<const std::int32_t> parents) {
  bool same = parents.size() == rows_.size();
  for (std::size_t i = 0; same && i < parents.size(); ++i) same = parents[i] == static_cast<std::int32_t>(i);
  if (same) return;

  for (std::size_t i = 0; i < parents.size(); ++i)
    check(parents[i] >= 0 && static_cast<std::size_t>(parents[i]) < rows_.size(), "KvCache",
          "row {} comes of row {} of {}", i, parents[i], rows_.size());
  before_.swap(rows_);
  rows_.resize(parents.size());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    rows_[i] = before_[static_cast<std::size_t>(parents[i])];
    for (std::int32_t slot : rows_[i]) ++references_[static_cast<std::size_t>(slot)];
  }
  for (const std::vector<std::int32_t>& row : before_)
    for (std::int32_t slot : row) release(slot);
}

const std::vector<std::int32_t>& KvCache::extend(std::span<const std::int32_t> counts) {
  check(counts.size() == rows_.size(), "KvCache", "{} counts for {} rows", counts.size(), rows_.size());
  for (std::int32_t n : counts) check(n >= 0, "KvCache", "a row cannot grow by {} tokens", n);
  const std::int64_t needed = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (needed > static_cast<std::int64_t>(free_.size())) grow(needed);
  fresh_.clear();
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::int32_t t = 0; t < counts[r]; ++t) {
      const std::int32_t slot = free_.back();
      free_.pop_back();
      references_[static_cast<std::size_t>(slot)] = 1;
      rows_[r].push_back(slot);
      fresh_.push_back(slot);
    }
  return fresh_;
}

void KvCache::grow(std::int64_t needed) {
  const std::int64_t capacity =
      std::max<std::int64_t>(2 * capacity_, used_slots() + std::max<std::int64_t>(needed, 64));
  const auto longer = [&](const Tensor& old, std::int64_t width) {
    const Tensor t = context_->empty({capacity, width});
    if (old) context_->kernels().scale(1.0f, old.data<float>(), t.data<float>(), static_cast<std::size_t>(old.count()));
    return t;
  };
  for (Layer& layer : layers_) {
    layer.keys = longer(layer.keys, sizes_.key_size);
    layer.values = longer(layer.values, sizes_.value_size);
  }
  std::vector<std::int32_t> slots;
  for (std::int64_t s = capacity; s-- > capacity_;) slots.push_back(static_cast<std::int32_t>(s));
  free_.insert(free_.begin(), slots.begin(), slots.end());
  references_.resize(static_cast<std::size_t>(capacity), 0);
  capacity_ = capacity;
}

void KvCache::store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values) {
  const Layer& to = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t N = static_cast<std::int64_t>(fresh_.size());
  check_shape(keys, {N, sizes_.key_size}, "KvCache: keys");
  check_shape(values, {N, sizes_.value_size}, "KvCache: values");
  const auto copy = [&](const Tensor& from, const Tensor& into, std::int64_t row, std::int64_t rows) {
    const std::int64_t width = into.size(1);
    c.kernels().copy_rows(from.data<float>() + row * from.row_stride(), static_cast<std::size_t>(from.row_stride()),
                          into.data<float>() + fresh_[static_cast<std::size_t>(row)] * width,
                          static_cast<std::size_t>(width), static_cast<std::size_t>(rows),
                          static_cast<std::size_t>(width));
  };
  for (std::int64_t i = 0; i < N;) {  // runs of neighbouring slots go in one call
    std::int64_t run = 1;
    while (i + run < N && fresh_[static_cast<std::size_t>(i + run)] == fresh_[static_cast<std::size_t>(i)] + run) ++run;
    copy(keys, to.keys, i, run);
    copy(values, to.values, i, run);
    i += run;
  }
}

}  // namespace tril::nn
