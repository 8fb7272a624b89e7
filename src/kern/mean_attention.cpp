// The mean of attention weights over heads, from which words are aligned, its gradient, and the loss that trains it.
// The formulas are in ops/mean_attention.cpp and ops/alignment_loss.cpp.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/mean_attention.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/attention_rows-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// y += a x
HWY_INLINE void add_scaled(float a, const float* x, float* y, std::size_t n) {
  const Floats d;
  const Vec factor = hn::Set(d, a);
  ForEach(
      n, [&](std::size_t i, auto io) HWY_ATTR { io.store(hn::MulAdd(factor, io.load(x + i), io.load(y + i)), y + i); });
}

/// Calls f(token of the query, row, offset of its weights) for each query.
template <class F>
HWY_INLINE void for_queries(const RowSpan* rows, std::size_t num_rows, const F& f) {
  std::size_t at = 0;
  for (std::size_t r = 0; r < num_rows; ++r) {
    const auto begin = as_size(rows[r].q_begin), count = as_size(rows[r].q_len);
    for (std::size_t i = 0; i < count; ++i) {
      f(begin + i, rows[r], at);
      at += as_size(rows[r].k_len);
    }
  }
}

/// p = exp(s - max) of a query's scores; returns the factor that turns p into weights.
HWY_INLINE float weigh(const MeanAttention& a, std::size_t query, const RowSpan& row, std::size_t head, float* p) {
  const std::size_t n = as_size(row.k_len), kv = head / (a.heads / a.kv_heads);
  const float* keys = a.k + as_size(row.k_begin) * a.k_stride + kv * a.d_k;
  dot_rows(a.q + query * a.q_stride + head * a.d_k, a.d_k, RowsInOrder{keys, a.k_stride}, n, a.scale, p);
  return exponentiate(p, n);
}

void mean_attention(const MeanAttention& a, float* weights, float* scratch) {
  for_queries(a.rows, a.num_rows, [&](std::size_t query, const RowSpan& row, std::size_t at) {
    const std::size_t n = as_size(row.k_len);
    for (std::size_t j = 0; j < n; ++j) weights[at + j] = 0;
    for (std::size_t c = 0; n != 0 && c < a.num_chosen; ++c) {
      const float sum = weigh(a, query, row, as_size(a.chosen[c]), scratch);
      add_scaled(sum / static_cast<float>(a.num_chosen), scratch, weights + at, n);
    }
  });
}

void mean_attention_backward(const MeanAttention& a, const float* d_weights, float* dq, std::size_t dq_stride,
                             float* dk, std::size_t dk_stride, float* scratch) {
  for_queries(a.rows, a.num_rows, [&](std::size_t query, const RowSpan& row, std::size_t at) {
    const std::size_t n = as_size(row.k_len);
    const float *dw = d_weights + at, mean = 1.0f / static_cast<float>(a.num_chosen);
    bool any = false;
    for (std::size_t j = 0; j < n; ++j) any |= dw[j] != 0;
    if (!any) return;  // most tokens of a batch may have no alignment
    float *p = scratch, *sum_of_keys = scratch + n;
    for (std::size_t c = 0; c < a.num_chosen; ++c) {
      const std::size_t head = as_size(a.chosen[c]), kv = head / (a.heads / a.kv_heads);
      const float scale = weigh(a, query, row, head, p);
      float along = 0;  // sum of P dP
      for (std::size_t j = 0; j < n; ++j) p[j] *= scale, along += p[j] * mean * dw[j];
      for (std::size_t j = 0; j < n; ++j) p[j] *= mean * dw[j] - along;  // dS
      const std::size_t keys = as_size(row.k_begin);
      const float* q = a.q + query * a.q_stride + head * a.d_k;
      weighted_sum(p, RowsInOrder{a.k + keys * a.k_stride + kv * a.d_k, a.k_stride}, n, a.d_k, a.scale, sum_of_keys);
      if (dq) add_scaled(1, sum_of_keys, dq + query * dq_stride + head * a.d_k, a.d_k);
      for (std::size_t j = 0; dk && j < n; ++j)
        add_scaled(a.scale * p[j], q, dk + (keys + j) * dk_stride + kv * a.d_k, a.d_k);
    }
  });
}

void alignment_loss(AlignmentCost cost, const RowSpan* rows, std::size_t num_rows, const float* weights,
                    const float* wanted, float gradient_scale, float* losses, float* d_weights) {
  constexpr float epsilon = 1e-6f;  // a weight may be zero
  std::size_t query = 0;
  for_queries(rows, num_rows, [&](std::size_t, const RowSpan& row, std::size_t at) {
    const std::size_t n = as_size(row.k_len);
    const float *w = weights + at, *a = wanted + at;
    float total = 0, hit = 0;
    for (std::size_t j = 0; j < n; ++j) total += a[j], hit += a[j] * w[j];
    float loss = 0;
    for (std::size_t j = 0; j < n; ++j) {
      float gradient = 0;
      if (total > 0) {
        switch (cost) {
          case AlignmentCost::ce:
            if (a[j] > 0) loss -= a[j] * std::log(w[j] + epsilon), gradient = -a[j] / (w[j] + epsilon);
            break;
          case AlignmentCost::mse:
            loss += (w[j] - a[j]) * (w[j] - a[j]) / 2, gradient = w[j] - a[j];
            break;
          case AlignmentCost::mult:
            if (j == 0) loss = -std::log(hit + epsilon);
            gradient = -a[j] / (hit + epsilon);
            break;
        }
      }
      if (d_weights) d_weights[at + j] = gradient_scale * gradient;
    }
    losses[query++] = loss;
  });
}

}  // namespace

void fill_mean_attention(Kernels& k) {
  k.mean_attention = mean_attention;
  k.mean_attention_backward = mean_attention_backward;
  k.alignment_loss = alignment_loss;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
