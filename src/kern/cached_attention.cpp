// One query against the cached keys and values of its sequence [the decoding step of Vaswani et al. 2017,
// section 3.2.1]: s_j = scale q . k_j, w = softmax(s), y = sum of w_j v_j, head by head; keys and values in whatever
// slots they lie.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/cached_attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/attention_rows-inl.h"
#include "kern/attention_tile-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

struct RowsInSlots {
  const float* base;
  const std::int32_t* slots;
  std::size_t stride;
  HWY_INLINE const float* operator()(std::size_t j) const { return base + static_cast<std::size_t>(slots[j]) * stride; }
};

/// s = exp(s - max); returns 1 / sum, for n > 0 scores.
HWY_INLINE float exponentiate(float* HWY_RESTRICT s, std::size_t n) {
  const Floats d;
  Vec highest = hn::Set(d, -kInfinity);
  ForEach(n, [&](std::size_t j, auto io)
                 HWY_ATTR { highest = hn::Max(highest, io.or_else(io.load(s + j), hn::Set(d, -kInfinity))); });
  const Vec shift = hn::MaxOfLanes(d, highest);
  Vec sum = hn::Zero(d);
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec e = FastExp(d, hn::Sub(io.load(s + j), shift));
    io.store(e, s + j);
    sum = hn::Add(sum, io.or_else(e, hn::Zero(d)));
  });
  return 1.0f / hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace

void cached_attention(const CachedAttention& a, float* out, std::size_t out_stride, float* scratch) {
  const std::size_t group = a.heads / a.kv_heads;
  for (std::size_t r = 0; r < a.num_rows; ++r) {
    const std::size_t n = static_cast<std::size_t>(a.lengths[r]);
    const float* q = a.q + r * a.q_stride;
    float* y = out + r * out_stride;
    if (n == 0) {
      for (std::size_t c = 0; c < a.heads * a.d_v; ++c) y[c] = 0;
      continue;
    }
    // Each step for all heads before the next: heads do not depend on each other, so their latencies overlap.
    for (std::size_t h = 0; h < a.heads; ++h) {
      dot_rows(q + h * a.d_k, a.d_k, RowsInSlots{a.k + h / group * a.d_k, a.slots[r], a.k_stride}, n, a.scale,
               scratch + h * n);
    }
    for (std::size_t h = 0; h < a.heads; ++h) {
      const float scale = exponentiate(scratch + h * n, n);
      weighted_sum(scratch + h * n, RowsInSlots{a.v + h / group * a.d_v, a.slots[r], a.v_stride}, n, a.d_v, scale,
                   y + h * a.d_v);
    }
  }
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
