#include "nn/kv_cache.h"

#include <algorithm>
#include <numeric>

namespace tril::nn {
namespace {

constexpr std::int64_t large = 8192;  // slots from which the cache grows by less than doubling

}  // namespace

KvCache::KvCache(Context& c, Sizes sizes)
    : context_(&c), sizes_(sizes), layers_(static_cast<std::size_t>(sizes.num_layers)) {}

void KvCache::configure(const Options& options) {
  check(rows_.empty(), "KvCache", "{} rows are in use and cannot be reconfigured", rows_.size());
  check(options.window >= 0 && options.sinks >= 0, "KvCache", "invalid window of {} tokens and {} sinks",
        options.window, options.sinks);
  if (keeps_states()) {
    if (options.window > 0)
      fail_usage("attention window", "is not supported with linear attention, which keeps no tokens", "leave it out");
    if (options.precision != Precision::fp32)
      fail_usage("cache precision", "linear attention keeps its sums in float32 only", "leave it out");
    return;
  }
  if (options.precision != options_.precision) {
    layers_.assign(layers_.size(), {});
    capacity_ = 0;
    free_.clear(), references_.clear();
  }
  options_ = options;
}

void KvCache::add_rows(std::int64_t n) {
  rows_.resize(rows_.size() + static_cast<std::size_t>(n));
}

void KvCache::release(std::int32_t slot) {
  if (--references(slot) == 0) free_.push_back(slot);
}

std::vector<std::int32_t> KvCache::hold(std::int64_t r, std::int32_t begin, std::int32_t end) {
  check(options_.window == 0, "KvCache", "a cache with a window of {} tokens cannot keep prefixes", options_.window);
  check(!keeps_states(), "KvCache", "linear attention cannot keep prefixes");
  check(r >= 0 && r < rows() && begin >= 0 && begin <= end && end <= length(r), "KvCache",
        "tokens {} to {} of row {} do not exist", begin, end, r);
  const auto& slots = row(r).slots;
  std::vector<std::int32_t> held(slots.begin() + begin, slots.begin() + end);
  for (const std::int32_t slot : held) ++references(slot);
  return held;
}

void KvCache::let_go(std::span<const std::int32_t> slots) {
  for (const std::int32_t slot : slots) release(slot);
}

void KvCache::add_row(std::span<const std::int32_t> slots) {
  Row& row = rows_.emplace_back();
  row.slots.assign(slots.begin(), slots.end());
  row.length = static_cast<std::int32_t>(slots.size());
  for (const std::int32_t slot : slots) ++references(slot);
}

void KvCache::reorder(std::span<const std::int32_t> parents) {
  bool same = parents.size() == rows_.size();
  for (std::int64_t i = 0; const std::int32_t parent : parents) {
    check(parent >= 0 && parent < rows(), "KvCache", "row {} comes from row {} of {}", i, parent, rows());
    same &= parent == i++;
  }
  if (same) return;

  before_.swap(rows_);
  rows_.resize(parents.size());  // existing rows keep their memory
  for (std::int64_t i = 0; const std::int32_t parent : parents) {
    Row& row = this->row(i++) = *(before_.begin() + parent);
    for (std::int32_t slot : row.slots) ++references(slot);
  }
  for (const Row& row : before_)
    for (std::int32_t slot : row.slots) release(slot);
}

void KvCache::truncate(std::int64_t r, std::int32_t length) {
  check(r >= 0 && r < rows(), "KvCache", "row {} of {}", r, rows());
  Row& row = this->row(r);
  const std::int32_t gone = row.length - length;
  check(length >= 0 && gone >= 0, "KvCache", "row {} of {} tokens cannot be cut to {}", r, row.length, length);
  if (gone == 0) return;
  check(!keeps_states(), "KvCache", "row {} cannot be cut from {} tokens to {}: linear attention cannot remove tokens",
        r, row.length, length);
  if (length == 0) {  // starts afresh, even if tokens have left the window
    for (const std::int32_t slot : row.slots) release(slot);
    row = {};
    return;
  }
  const auto kept = static_cast<std::int32_t>(row.slots.size());
  const bool whole = kept == row.length;
  check(gone <= kept && (whole || kept - gone >= options_.sinks + options_.window - 1), "KvCache",
        "row {} cannot be cut from {} tokens to {}: the window has moved on", r, row.length, length);
  for (std::int32_t i = 0; i < gone; ++i) {
    release(row.slots.back());
    row.slots.pop_back();
  }
  row.length = length;
}

// Drops tokens so that the next one sees itself and window - 1 tokens before it.
void KvCache::leave_window(Row& row) {
  if (options_.window == 0 || std::ssize(row.slots) <= options_.sinks + options_.window - 1) return;
  const auto begin = row.slots.begin() + options_.sinks;
  const auto end = row.slots.end() - (options_.window - 1);
  for (auto slot = begin; slot != end; ++slot) release(*slot);
  row.slots.erase(begin, end);
}

const std::vector<std::int32_t>& KvCache::extend(std::span<const std::int32_t> counts) {
  check(counts.size() == rows_.size(), "KvCache", "{} counts for {} rows", counts.size(), rows_.size());
  for (std::int32_t n : counts) check(n >= 0, "KvCache", "a row cannot grow by {} tokens", n);
  fresh_.clear();
  if (keeps_states()) {
    extend_states(counts);
    return fresh_;
  }
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (counts[r] > 0) leave_window(rows_[r]);
  const std::int64_t needed = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (needed > std::ssize(free_))
    grow(std::max<std::int64_t>(capacity_ + (capacity_ < large ? capacity_ : capacity_ / 4),
                                used_slots() + std::max<std::int64_t>(needed, 64)));
  for (std::size_t r = 0; r < counts.size(); ++r) {
    rows_[r].length += counts[r];
    for (std::int32_t t = 0; t < counts[r]; ++t) {
      const std::int32_t slot = take_slot();
      rows_[r].slots.push_back(slot);
      fresh_.push_back(slot);
    }
  }
  return fresh_;
}

std::int32_t KvCache::take_slot() {
  const std::int32_t slot = free_.back();
  free_.pop_back();
  references(slot) = 1;
  return slot;
}

// A row that begins gets a state of zeros; a continuing row gets its own copy of a shared state.
void KvCache::extend_states(std::span<const std::int32_t> counts) {
  for (std::size_t r = 0; r < counts.size(); ++r) {
    Row& row = rows_[r];
    if (counts[r] == 0) continue;
    row.length += counts[r];
    const bool begins = row.slots.empty();
    if (!begins && references(row.slots[0]) == 1) continue;
    if (free_.empty()) grow(std::max<std::int64_t>(2 * capacity_, rows()));
    const std::int32_t slot = take_slot();
    for (ops::CachedKeysValues& layer : layers_) {
      Tensor to = layer.keys.rows(slot, slot + 1);
      const auto n = static_cast<std::size_t>(sizes_.state_size);
      if (begins)
        context_->kernels().fill(0.0f, to.data<float>(), n);
      else
        context_->kernels().copy(layer.keys.rows(row.slots[0], row.slots[0] + 1).data<float>(), to.data<float>(),
                                 n * sizeof(float));
    }
    if (!begins) release(row.slots[0]);
    row.slots.assign(1, slot);
  }
}

void KvCache::reserve(std::int64_t slots) {
  if (slots > capacity_ && !keeps_states()) grow(slots);
}

// Grows one table after the other, so that at most one exists twice. If memory runs out, each table has its old size
// or more.
void KvCache::grow(std::int64_t capacity) {
  const bool bytes = options_.precision == Precision::int8;
  struct Table {
    Tensor* table;
    std::int64_t width;
    DType type;
  };
  std::vector<Table> tables;
  for (ops::CachedKeysValues& layer : layers_) {
    if (keeps_states()) {
      tables.push_back({&layer.keys, sizes_.state_size, DType::f32});
      continue;
    }
    tables.push_back({&layer.keys, sizes_.key_size, bytes ? DType::i8 : DType::f32});
    tables.push_back({&layer.values, sizes_.value_size, bytes ? DType::i8 : DType::f32});
    if (bytes) tables.push_back({&layer.key_scales, sizes_.num_kv_heads, DType::f32});
    if (bytes) tables.push_back({&layer.value_scales, sizes_.num_kv_heads, DType::f32});
  }
  for (const Table& t : tables) {
    if (*t.table && t.table->size(0) >= capacity) continue;
    const Tensor longer = context_->empty({capacity, t.width}, t.type);
    if (*t.table) ops::copy_into(*context_, *t.table, longer);
    *t.table = longer;
  }
  std::vector<std::int32_t> slots;
  for (std::int64_t s = capacity; s-- > capacity_;) slots.push_back(static_cast<std::int32_t>(s));
  free_.insert(free_.begin(), slots.begin(), slots.end());
  references_.resize(static_cast<std::size_t>(capacity), 0);
  capacity_ = capacity;
}

std::int64_t KvCache::bytes() const {
  std::size_t n = 0;
  for (const ops::CachedKeysValues& l : layers_)
    for (const Tensor& t : {l.keys, l.values, l.key_scales, l.value_scales}) n += t ? t.bytes() : 0;
  return static_cast<std::int64_t>(n);
}

void KvCache::store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values) {
  ops::CachedKeysValues& to = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t N = std::ssize(fresh_);
  check_shape(keys, {N, sizes_.key_size}, "KvCache: keys");
  check_shape(values, {N, sizes_.value_size}, "KvCache: values");
  if (N == 0) return;
  if (options_.precision == Precision::int8) {
    ops::quantize_slots(c, keys, fresh_, to.keys, to.key_scales);
    ops::quantize_slots(c, values, fresh_, to.values, to.value_scales);
    return;
  }
  const auto copy = [&](const Tensor& from, Tensor& into, std::int64_t row, std::int64_t rows) {
    const std::int64_t width = into.size(1);
    c.kernels().copy_rows(from.data<float>() + row * from.row_stride(), static_cast<std::size_t>(from.row_stride()),
                          into.data<float>() + *(fresh_.begin() + row) * width, static_cast<std::size_t>(width),
                          static_cast<std::size_t>(rows), static_cast<std::size_t>(width));
  };
  const auto first = fresh_.begin();
  for (std::int64_t i = 0; i < N;) {  // runs of consecutive slots are stored in one call
    std::int64_t run = 1;
    while (i + run < N && *(first + i + run) == *(first + i) + run) ++run;
    copy(keys, to.keys, i, run);
    copy(values, to.values, i, run);
    i += run;
  }
}

}  // namespace tril::nn
