#include "nn/kv_cache.h"

#include <algorithm>
#include <utility>

#include "base/as_size.h"

namespace tril::nn {
namespace {

constexpr std::int64_t large = 8192;  // slots from which the cache grows by less than doubling

// A table of this shape that begins with the old one's rows; the old one itself if it has as many.
void lengthen(Context& c, Tensor& table, const Shape& shape, DType type) {
  if (table && table.size(0) >= shape[0]) return;
  const Tensor longer = c.empty(shape, type);
  if (table) ops::copy_into(c, table, longer);
  table = longer;
}

}  // namespace

KvCache::KvCache(Context& c, std::vector<Layer> layers)
    : context_(&c), sizes_(std::move(layers)), layers_(sizes_.size()), states_(sizes_.size()) {
  keeps_states_ = std::ranges::any_of(sizes_, [](const Layer& l) { return l.state_size > 0; });
  keeps_tokens_ = !keeps_states_ || std::ranges::any_of(sizes_, [](const Layer& l) { return l.key_size > 0; });
}

void KvCache::configure(const Options& options) {
  check(rows_.empty(), "KvCache", "{} rows are in use and cannot be reconfigured", rows_.size());
  check(options.window >= 0 && options.sinks >= 0, "KvCache", "invalid window of {} tokens and {} sinks",
        options.window, options.sinks);
  if (!keeps_tokens_) {
    if (options.window > 0)
      fail_usage("attention window", "is not supported with recurrent states alone, which keep no tokens",
                 "leave it out");
    if (options.precision != Precision::fp32)
      fail_usage("cache precision", "recurrent states are kept in float32 only", "leave it out");
    return;
  }
  if (options.precision != options_.precision) {
    layers_.assign(layers_.size(), {});
    tokens_.clear();
  }
  options_ = options;
}

void KvCache::add_rows(std::int64_t n) {
  rows_.resize(rows_.size() + as_size(n));
}

void KvCache::release(const Row& row) {
  for (const std::int32_t slot : row.slots) tokens_.release(slot);
  if (row.state >= 0) pool_.release(row.state);
}

std::vector<std::int32_t> KvCache::hold(std::int64_t r, std::int32_t begin, std::int32_t end) {
  check(options_.window == 0, "KvCache", "a cache with a window of {} tokens cannot keep prefixes", options_.window);
  check(!keeps_states(), "KvCache", "a cache with recurrent states cannot keep prefixes");
  check(r >= 0 && r < rows() && begin >= 0 && begin <= end && end <= length(r), "KvCache",
        "tokens {} to {} of row {} do not exist", begin, end, r);
  const auto& slots = row(r).slots;
  std::vector<std::int32_t> held(slots.begin() + begin, slots.begin() + end);
  for (const std::int32_t slot : held) tokens_.share(slot);
  return held;
}

void KvCache::let_go(std::span<const std::int32_t> slots) {
  for (const std::int32_t slot : slots) tokens_.release(slot);
}

void KvCache::add_row(std::span<const std::int32_t> slots) {
  check(slots.empty() || !keeps_states(), "KvCache", "a row with a recurrent state cannot begin with held tokens");
  Row& row = rows_.emplace_back();
  row.slots.assign(slots.begin(), slots.end());
  row.length = static_cast<std::int32_t>(slots.size());
  for (const std::int32_t slot : slots) tokens_.share(slot);
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
    for (std::int32_t slot : row.slots) tokens_.share(slot);
    if (row.state >= 0) pool_.share(row.state);
  }
  for (const Row& row : before_) release(row);
}

void KvCache::truncate(std::int64_t r, std::int32_t length) {
  check(r >= 0 && r < rows(), "KvCache", "row {} of {}", r, rows());
  Row& row = this->row(r);
  const std::int32_t gone = row.length - length;
  check(length >= 0 && gone >= 0, "KvCache", "row {} of {} tokens cannot be cut to {}", r, row.length, length);
  if (gone == 0) return;
  if (length == 0) {  // starts afresh, even if tokens have left the window
    release(row);
    row = {};
    return;
  }
  check(!keeps_states(), "KvCache", "row {} cannot be cut from {} tokens to {}: a recurrent state cannot remove tokens",
        r, row.length, length);
  const auto kept = static_cast<std::int32_t>(row.slots.size());
  const bool whole = kept == row.length;
  check(gone <= kept && (whole || kept - gone >= options_.sinks + options_.window - 1), "KvCache",
        "row {} cannot be cut from {} tokens to {}: the window has moved on", r, row.length, length);
  for (std::int32_t i = 0; i < gone; ++i) {
    tokens_.release(row.slots.back());
    row.slots.pop_back();
  }
  row.length = length;
}

// Drops tokens so that the next one sees itself and window - 1 tokens before it.
void KvCache::leave_window(Row& row) {
  if (options_.window == 0 || std::ssize(row.slots) <= options_.sinks + options_.window - 1) return;
  const auto begin = row.slots.begin() + options_.sinks;
  const auto end = row.slots.end() - (options_.window - 1);
  for (auto slot = begin; slot != end; ++slot) tokens_.release(*slot);
  row.slots.erase(begin, end);
}

// Grows the tables first, so that an extension either fails before any row grows or is complete.
void KvCache::make_room(std::span<const std::int32_t> counts) {
  std::int64_t tokens = 0, states = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] == 0) continue;
    tokens += counts[r];
    states += rows_[r].state < 0 || pool_.is_shared(rows_[r].state);
  }
  if (keeps_tokens_ && tokens > tokens_.free()) {
    const std::int64_t more = capacity() < large ? capacity() : capacity() / 4;
    grow(std::max(capacity() + more, used_slots() + std::max<std::int64_t>(tokens, 64)));
  }
  if (keeps_states_ && states > pool_.free())
    grow_states(std::max({2 * pool_.capacity(), pool_.used() + states, rows()}));
}

const std::vector<std::int32_t>& KvCache::extend(std::span<const std::int32_t> counts) {
  check(counts.size() == rows_.size(), "KvCache", "{} counts for {} rows", counts.size(), rows_.size());
  for (std::int32_t n : counts) check(n >= 0, "KvCache", "a row cannot grow by {} tokens", n);
  fresh_.clear();
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (counts[r] > 0) leave_window(rows_[r]);
  make_room(counts);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    Row& row = rows_[r];
    row.length += counts[r];
    if (keeps_states_ && counts[r] > 0) own_state(row);
    for (std::int32_t t = 0; t < counts[r] && keeps_tokens_; ++t) {
      const std::int32_t slot = tokens_.take();
      row.slots.push_back(slot);
      fresh_.push_back(slot);
    }
  }
  return fresh_;
}

// A row that begins gets a state of zeros; a continuing row gets its own copy of a shared state.
void KvCache::own_state(Row& row) {
  const bool begins = row.state < 0;
  if (!begins && !pool_.is_shared(row.state)) return;
  const std::int32_t slot = pool_.take();
  for (std::int64_t layer = 0; layer < num_layers(); ++layer) {
    if (!keeps_state(layer)) continue;
    const Tensor& all = states(layer);
    Tensor to = all.rows(slot, slot + 1);
    const auto n = as_size(sizes(layer).state_size);
    if (begins)
      context_->kernels().fill(0.0f, to.data<float>(), n);
    else
      context_->kernels().copy(all.rows(row.state, row.state + 1).data<float>(), to.data<float>(), n * sizeof(float));
  }
  if (!begins) pool_.release(row.state);
  row.state = slot;
}

void KvCache::reserve(std::int64_t slots) {
  if (slots > capacity() && keeps_tokens_) grow(slots);
}

void KvCache::grow_states(std::int64_t capacity) {
  for (std::int64_t layer = 0; layer < num_layers(); ++layer)
    if (keeps_state(layer))
      lengthen(*context_, states_[as_size(layer)], {capacity, sizes(layer).state_size}, DType::f32);
  pool_.grow(capacity);
}

// Grows one table after the other, so that at most one exists twice. If memory runs out, each table has its old size
// or more.
void KvCache::grow(std::int64_t capacity) {
  const bool bytes = options_.precision == Precision::int8;
  const DType type = bytes ? DType::i8 : DType::f32;
  for (std::int64_t layer = 0; layer < num_layers(); ++layer) {
    if (!keeps_keys(layer)) continue;
    ops::CachedKeysValues& kv = layers_[as_size(layer)];
    lengthen(*context_, kv.keys, {capacity, sizes(layer).key_size}, type);
    lengthen(*context_, kv.values, {capacity, sizes(layer).value_size}, type);
    if (bytes) lengthen(*context_, kv.key_scales, {capacity, sizes(layer).num_kv_heads}, DType::f32);
    if (bytes) lengthen(*context_, kv.value_scales, {capacity, sizes(layer).num_kv_heads}, DType::f32);
  }
  tokens_.grow(capacity);
}

std::int64_t KvCache::bytes() const {
  std::size_t n = 0;
  for (const ops::CachedKeysValues& l : layers_)
    for (const Tensor& t : {l.keys, l.values, l.key_scales, l.value_scales}) n += t ? t.bytes() : 0;
  for (const Tensor& t : states_) n += t ? t.bytes() : 0;
  return static_cast<std::int64_t>(n);
}

void KvCache::store(Context& c, std::int64_t layer, const Tensor& keys, const Tensor& values) {
  check(keeps_keys(layer), "KvCache", "layer {} keeps a state and not keys and values", layer);
  ops::CachedKeysValues& to = layers_[as_size(layer)];
  const std::int64_t N = std::ssize(fresh_);
  check_shape(keys, {N, sizes(layer).key_size}, "KvCache: keys");
  check_shape(values, {N, sizes(layer).value_size}, "KvCache: values");
  if (N == 0) return;
  if (options_.precision == Precision::int8) {
    ops::quantize_slots(c, keys, fresh_, to.keys, to.key_scales);
    if (values.size(1) > 0) ops::quantize_slots(c, values, fresh_, to.values, to.value_scales);
    return;
  }
  const auto copy = [&](const Tensor& from, Tensor& into, std::int64_t row, std::int64_t rows) {
    const std::int64_t width = into.size(1);
    c.kernels().copy_rows(from.data<float>() + row * from.row_stride(), as_size(from.row_stride()),
                          into.data<float>() + *(fresh_.begin() + row) * width, as_size(width), as_size(rows),
                          as_size(width));
  };
  const auto first = fresh_.begin();
  for (std::int64_t i = 0; i < N;) {  // runs of consecutive slots are stored in one call
    std::int64_t run = 1;
    while (i + run < N && *(first + i + run) == *(first + i) + run) ++run;
    copy(keys, to.keys, i, run);
    if (values.size(1) > 0) copy(values, to.values, i, run);
    i += run;
  }
}

}  // namespace tril::nn
