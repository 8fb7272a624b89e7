#include "search/step_logits.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tril::search {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

}  // namespace

StepLogits::StepLogits(const Context& c, Tensor logits, std::span<const float> log_sums,
                       std::span<const std::int32_t> columns)
    : context_(&c), kernels_(&c.kernels()), log_sums_(log_sums), columns_(columns) {
  const auto [rows, V] = logits.dims<2>("logits");
  check_dense(logits, DType::f32, "logits");
  check(log_sums.empty() || std::ssize(log_sums) == rows, "StepLogits", "{} sums for {} rows", log_sums.size(), rows);
  values_ = logits.data<float>();
  rows_ = rows, vocab_size_ = V;
}

std::optional<std::int32_t> StepLogits::column_of(std::int32_t id) const {
  if (columns_.empty()) {
    check(id >= 0 && id < vocab_size_, "StepLogits", "{} is not an id of the vocabulary of {}", id, vocab_size_);
    return id;
  }
  const auto at = std::lower_bound(columns_.begin(), columns_.end(), id);
  if (at == columns_.end() || *at != id) return std::nullopt;
  return static_cast<std::int32_t>(at - columns_.begin());
}

void StepLogits::forbid(std::int64_t row, std::int32_t id) {
  if (const auto column = column_of(id)) kernels_->fill(minus_infinity, values_ + row * vocab_size_ + *column, 1);
}

void StepLogits::force(std::int64_t row, std::int32_t id) {
  kernels_->fill(minus_infinity, values_ + row * vocab_size_, vocab_size_);
  if (const auto column = column_of(id))
    kernels_->fill(log_sums_.empty() ? 0.0f : log_sums_[row], values_ + row * vocab_size_ + *column, 1);
}

bool StepLogits::keep(std::int64_t row, std::span<const std::uint64_t> mask, std::int64_t count) {
  check(columns_.empty(), "StepLogits", "a mask covers all ids, but these logits cover {}", columns_.size());
  constexpr std::int64_t few = 256;
  return count > few ? keep_many(row, mask) : keep_few(row, mask);
}

// Adds 0 for allowed ids and -inf for the others.
bool StepLogits::keep_many(std::int64_t row, std::span<const std::uint64_t> mask) {
  float* const values = values_ + row * vocab_size_;
  const std::int64_t n = vocab_size_;
  std::vector<float> addend(n, minus_infinity);
  std::vector<std::int32_t> some;  // some of the allowed ids
  for (std::size_t word = 0; word < mask.size(); ++word) {
    if (mask[word] == ~std::uint64_t{0}) {
      std::fill_n(addend.begin() + static_cast<std::ptrdiff_t>(word * 64), 64, 0.0f);
      continue;
    }
    for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
      const std::size_t id = word * 64 + std::countr_zero(bits);
      addend[id] = 0;
      if (some.size() < 8) some.push_back(static_cast<std::int32_t>(id));
    }
  }
  kernels_->axpy(1.0f, context_->upload<float>(addend, {vocab_size_}).data<float>(), values, n);
  const std::vector<float> x = at(row, some);
  const auto is_left = [](float v) { return v != minus_infinity; };  // NaN is reported later
  if (std::any_of(x.begin(), x.end(), is_left)) return true;
  Tensor sum = context_->empty({1});
  kernels_->log_sum_exp(values, sum.data<float>(), 1, n);
  return is_left(host_copy<float>(sum)[0]);
}

// Saves the allowed logits, fills the row with -inf and restores them.
bool StepLogits::keep_few(std::int64_t row, std::span<const std::uint64_t> mask) {
  float* const values = values_ + row * vocab_size_;
  std::vector<std::int32_t> ids;
  for (std::size_t word = 0; word < mask.size(); ++word)
    for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1)
      ids.push_back(static_cast<std::int32_t>(word * 64) + std::countr_zero(bits));
  const std::vector<float> kept = at(row, ids);
  kernels_->fill(minus_infinity, values, vocab_size_);
  bool any = false;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (kept[i] != minus_infinity) {  // NaN is reported later
      kernels_->fill(kept[i], values + ids[i], 1);
      any = true;
    }
  return any;
}

std::vector<float> StepLogits::at(std::int64_t row, std::span<const std::int32_t> ids) const {
  std::vector<float> values(ids.size(), minus_infinity);
  std::vector<std::int32_t> columns;
  std::vector<std::size_t> places;  // positions of these in ids
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (const auto column = column_of(ids[i])) columns.push_back(*column), places.push_back(i);
  if (columns.empty()) return values;
  Tensor found = context_->empty({std::ssize(columns)});
  kernels_->gather(values_ + row * vocab_size_, context_->upload(columns).data<std::int32_t>(), 1.0f,
                   found.data<float>(), columns.size(), 1);
  const std::vector<float> x = host_copy<float>(found);
  for (std::size_t i = 0; i < x.size(); ++i) values[places[i]] = x[i];
  return values;
}

void StepLogits::change(std::int64_t row, std::span<const std::int32_t> ids,
                        const std::function<float(float, std::size_t)>& f) {
  const std::vector<float> x = at(row, ids);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const auto column = column_of(ids[i])) kernels_->fill(f(x[i], i), values_ + row * vocab_size_ + *column, 1);
}

}  // namespace tril::search
