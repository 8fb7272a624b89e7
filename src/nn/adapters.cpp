#include "nn/adapters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "base/as_size.h"
#include "ops/scale_columns.h"

namespace tril::nn {
namespace {

const WeightChange* change_of(const WeightAdapters& w, std::int32_t adapter) {
  const std::int32_t k = adapter >= 0 ? adapter : w.standard;
  if (k < 0 || as_size(k) >= w.of.size()) return nullptr;
  const auto& change = w.of[as_size(k)];
  return change ? &*change : nullptr;
}

// Some rows of x, dense.
Tensor copied(Context& c, const Tensor& x, std::span<const std::int32_t> rows) {
  const std::int64_t D = x.size(1);
  Tensor y = c.empty({std::ssize(rows), D});
  for (std::size_t i = 0; i < rows.size(); ++i)
    c.kernels().copy(x.data<float>() + rows[i] * x.row_stride(), y.data<float>() + static_cast<std::int64_t>(i) * D,
                     as_size(D) * sizeof(float));
  return y;
}

void put_back(Context& c, const Tensor& from, std::span<const std::int32_t> rows, Tensor& y) {
  const std::int64_t D = y.size(1);
  for (std::size_t i = 0; i < rows.size(); ++i)
    c.kernels().copy(from.data<float>() + static_cast<std::int64_t>(i) * D, y.data<float>() + rows[i] * y.row_stride(),
                     as_size(D) * sizeof(float));
}

// Calls change(adapter's change, rows) for the rows of each adapter that changes the weight.
using Changed = std::function<void(const WeightChange&, std::span<const std::int32_t>)>;
void for_each_adapter(const Context& c, const WeightAdapters& adapters, std::int64_t N, const Changed& changed) {
  const auto& [of_rows, of_all] = c.adapters();
  std::map<const WeightChange*, std::vector<std::int32_t>> rows;
  if (of_rows.empty()) {
    if (const WeightChange* change = change_of(adapters, of_all))
      for (std::int64_t i = 0; i < N; ++i) rows[change].push_back(static_cast<std::int32_t>(i));
  } else {
    check(std::ssize(of_rows) == N, "adapters", "{} rows, but the adapters of {} are known", N, of_rows.size());
    for (std::int64_t i = 0; i < N; ++i)
      if (const WeightChange* change = change_of(adapters, of_rows[as_size(i)]))
        rows[change].push_back(static_cast<std::int32_t>(i));
  }
  for (const auto& [change, list] : rows) changed(*change, list);
}

Tensor lasting(std::span<const float> values, Shape shape) {
  const auto memory = std::make_shared<std::vector<float>>(values.begin(), values.end());
  return foreign_tensor(reinterpret_cast<std::byte*>(memory->data()), shape, DType::f32, memory);
}

}  // namespace

ops::Weight adapter_matrix(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  const auto R = as_size(rows), C = as_size(columns);
  check(values.size() == R * C, "adapter", "{} values for [{}, {}]", values.size(), rows, columns);
  std::vector<float> turned(values.size());
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t j = 0; j < C; ++j) turned[j * R + i] = values[i * C + j];
  return {lasting(values, {rows, columns}), lasting(turned, {columns, rows})};
}

Tensor adapter_vector(std::span<const float> values) {
  return lasting(values, {std::ssize(values)});
}

bool is_adapted(const Context& c, const WeightAdapters* adapters) {
  if (!adapters) return false;
  const std::span<const std::int32_t> rows = c.adapters().of_rows;
  if (rows.empty()) return change_of(*adapters, c.adapters().of_all) != nullptr;
  return std::any_of(rows.begin(), rows.end(), [&](std::int32_t k) { return change_of(*adapters, k) != nullptr; });
}

bool is_adapted(const Context& c, const Parameter& weight) {
  return is_adapted(c, weight.adapters.get());
}

const WeightChange* change_of_all(const Context& c, const Parameter& weight) {
  if (!weight.adapters) return nullptr;
  const std::span<const std::int32_t> rows = c.adapters().of_rows;
  if (rows.empty()) return change_of(*weight.adapters, c.adapters().of_all);
  const bool same = std::all_of(rows.begin(), rows.end(), [&](std::int32_t k) { return k == rows[0]; });
  return same ? change_of(*weight.adapters, rows[0]) : nullptr;
}

void adapt(Context& c, const Tensor& x, const Parameter& weight, Tensor y) {
  check(!c.tape(), weight.name, "a served adapter has no gradients");
  for_each_adapter(c, *weight.adapters, x.size(0), [&](const WeightChange& change, std::span<const std::int32_t> rows) {
    const bool all = std::ssize(rows) == x.size(0);
    const Tensor in = all ? x : copied(c, x, rows);
    if (change.whole.value) return put_back(c, ops::linear(c, in, change.whole, change.offset), rows, y);
    Tensor z = copied(c, y, rows);
    if (change.gain) z = ops::scale_columns(c, z, change.gain);
    if (change.a.value) {
      const Tensor low = ops::linear(c, in, change.a, Tensor());  // [n, rank]
      z = ops::linear(c, low, change.b, change.offset, {.residual = z});
    } else if (change.offset) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        c.kernels().axpy(1.0f, change.offset.data<float>(), z.data<float>() + static_cast<std::int64_t>(i) * y.size(1),
                         as_size(y.size(1)));
    }
    put_back(c, z, rows, y);
  });
}

void adapt_rows(Context& c, std::span<const std::int32_t> ids, const WeightAdapters& adapters, float scale, Tensor y) {
  check(!c.tape(), "embedding", "a served adapter has no gradients");
  const auto n_ids = std::ssize(ids);
  for_each_adapter(c, adapters, n_ids, [&](const WeightChange& change, std::span<const std::int32_t> rows) {
    std::vector<std::int32_t> wanted;
    for (const std::int32_t r : rows) wanted.push_back(ids[as_size(r)]);
    const Tensor on_device = c.upload(wanted);
    put_back(c, ops::embedding(c, change.whole.value, on_device, scale, -1), rows, y);
  });
}

}  // namespace tril::nn
