// Small helpers of the op files.
#pragma once

#include "base/as_size.h"
#include "kern/attention.h"
#include "kern/gemm.h"
#include "ops/ops.h"

namespace tril::ops {

/// as_size(n), in one letter for the long argument lists of kernels.
constexpr std::size_t z(std::int64_t n) {
  return as_size(n);
}

/// Bytes of tensors that are read or written once each; missing tensors count nothing.
template <class... T>
double bytes_of(const T&... tensors) {
  return (0.0 + ... + (tensors ? static_cast<double>(tensors.bytes()) : 0.0));
}

/// Flops of the product [m, k] [k, n].
inline double product_flops(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}
inline Work product_work(bool mixed, double flops, double bytes) {
  return {.flops = mixed ? 0 : flops, .mixed_flops = mixed ? flops : 0, .bytes = bytes};
}

/// dx (+)= dy, the gradient of every op that passes its input on.
inline void pass_on(Context& c, const Tensor& dy, Grads::Target to) {
  if (!to) return;
  const float one = 1.0f;
  if (to.accumulate)
    c.kernels().axpy(one, dy.data<float>(), to.grad.data<float>(), z(dy.count()));
  else
    c.kernels().scale(one, dy.data<float>(), to.grad.data<float>(), z(dy.count()));
}

/// The same if the target may be a slice of columns: dy [N, D] dense.
inline void pass_rows_on(Context& c, const Tensor& dy, Grads::Target to) {
  if (!to) return;
  for (std::int64_t i = 0; i < dy.size(0); ++i) {
    const Tensor row = dy.rows(i, i + 1);
    Tensor into = to.grad.rows(i, i + 1);
    if (to.accumulate)
      c.kernels().axpy(1.0f, row.data<float>(), into.data<float>(), z(row.count()));
    else
      c.kernels().scale(1.0f, row.data<float>(), into.data<float>(), z(row.count()));
  }
}

/// The gradient of a weight to which sums are added: zeroed if it holds no contribution yet.
inline float* sum_into(Context& c, Grads::Target to) {
  if (!to) return nullptr;
  if (!to.accumulate) c.kernels().fill(0.0f, to.grad.data<float>(), z(to.grad.count()));
  return to.grad.data<float>();
}

/// True if the rows cover every query (every key) exactly once, in order: then results can be stored without
/// zeroing first.
struct Cover {
  bool queries = true, keys = true;
};
inline Cover cover_of(const Spans& spans, std::int64_t Nq, std::int64_t Nk) {
  std::int64_t q = 0, k = 0;
  Cover cover;
  for (const kern::RowSpan& s : *spans) {
    cover.queries &= s.q_begin == q, cover.keys &= s.k_begin == k;
    q += s.q_len, k += s.k_len;
  }
  cover.queries &= q == Nq, cover.keys &= k == Nk;
  return cover;
}

/// The shape of attention weights, row after row: [B, H, Tq, Tk] if all rows have equal lengths, else flat.
inline Shape shape_of_weights(std::span<const kern::RowSpan> rows, std::int64_t heads) {
  std::int64_t total = 0;
  bool alike = !rows.empty();
  for (const kern::RowSpan& r : rows) {
    total += heads * r.q_len * r.k_len;
    alike &= r.q_len == rows[0].q_len && r.k_len == rows[0].k_len;
  }
  if (!alike) return {total};
  return {std::ssize(rows), heads, rows[0].q_len, rows[0].k_len};
}

/// The bias in the kernels' form, for rows of at most this many queries and keys.
inline kern::RelativeBias bias_of(const RelativeBias& bias, std::int64_t heads, std::int64_t queries,
                                  std::int64_t keys) {
  if (!bias.table) return {};
  const auto [H, distances] = bias.table.dims<2>("attention: bias");
  check_dense(bias.table, DType::f32, "attention: bias");
  check(H == heads && bias.zero >= 0 && bias.zero + 1 >= keys && distances - bias.zero >= queries, "attention: bias",
        "{} with distance 0 at {} for {} heads, {} queries and {} keys", bias.table.shape(), bias.zero, heads, queries,
        keys);
  return {bias.table.data<float>() + bias.zero, z(distances)};
}

/// Zeroes a matrix [N, D], which may be a slice of columns.
inline void clear(Context& c, const Tensor& x) {
  for (std::int64_t i = 0; i < x.size(0); ++i) c.kernels().fill(0.0f, x.rows(i, i + 1).data<float>(), z(x.size(1)));
}

/// The context's dropout; none in serving.
inline kern::Dropout draw_dropout(Context& c, float p) {
  check(p >= 0 && p < 1, "dropout", "probability {} is not in [0, 1)", p);
  p *= c.dropout_factor();
  return c.training() && p > 0 ? kern::Dropout{p, c.rng().next_key()} : kern::Dropout{};
}

}  // namespace tril::ops
