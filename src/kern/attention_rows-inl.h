// Attention of one query: scores as dot products with whole keys, four at a time, and the weighted sum of values. It
// needs no transposed keys, so it is the better way for a query or two, and the keys may lie anywhere.
#if defined(TRIL_KERN_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_ATTENTION_ROWS_INL_H_
#undef TRIL_KERN_ATTENTION_ROWS_INL_H_
#else
#define TRIL_KERN_ATTENTION_ROWS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "kern/attention_tile-inl.h"
#include "kern/math-inl.h"
#include "kern/simd.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

// Numbers of a cache's rows, as they lie there or from 8 bits.
HWY_INLINE Vec load_floats(const float* p) {
  return hn::LoadU(Floats(), p);
}
HWY_INLINE Vec load_floats(const float* p, std::size_t n) {
  return LoadPart(Floats(), p, n);
}
HWY_INLINE Vec load_floats(const std::int8_t* p) {
  const hn::Rebind<std::int8_t, Floats> d8;
  const hn::RebindToSigned<Floats> di;
  return hn::ConvertTo(Floats(), hn::PromoteTo(di, hn::LoadU(d8, p)));
}
HWY_INLINE Vec load_floats(const std::int8_t* p, std::size_t n) {
  const Floats d;
  HWY_ALIGN float lanes[hn::MaxLanes(Floats())] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = static_cast<float>(p[i]);
  return hn::Load(d, lanes);
}

/// s[j] = scale * (q . key(j)) for j < n
template <class KeyAt>
HWY_INLINE void dot_rows(const float* HWY_RESTRICT q, std::size_t d_k, const KeyAt& key, std::size_t n, float scale,
                         float* HWY_RESTRICT s) {
  const Floats d;
  const hn::Full128<float> d4;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < n; j += 4) {
    const auto *k0 = key(j), *k1 = j + 1 < n ? key(j + 1) : k0, *k2 = j + 2 < n ? key(j + 2) : k0,
               *k3 = j + 3 < n ? key(j + 3) : k0;
    Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    std::size_t c = 0;
    for (; c + lanes <= d_k; c += lanes) {
      const Vec x = hn::LoadU(d, q + c);
      s0 = hn::MulAdd(x, load_floats(k0 + c), s0);
      s1 = hn::MulAdd(x, load_floats(k1 + c), s1);
      s2 = hn::MulAdd(x, load_floats(k2 + c), s2);
      s3 = hn::MulAdd(x, load_floats(k3 + c), s3);
    }
    if (const std::size_t tail = d_k - c; tail != 0) {
      const Vec x = LoadPart(d, q + c, tail);
      s0 = hn::MulAdd(x, load_floats(k0 + c, tail), s0);
      s1 = hn::MulAdd(x, load_floats(k1 + c, tail), s1);
      s2 = hn::MulAdd(x, load_floats(k2 + c, tail), s2);
      s3 = hn::MulAdd(x, load_floats(k3 + c, tail), s3);
    }
    const auto sums = hn::Mul(reduce4(s0, s1, s2, s3, AddLanes()), hn::Set(d4, scale));
    if (j + 4 <= n) {
      hn::StoreU(sums, d4, s + j);
    } else {
      StorePart(sums, d4, s + j, n - j);
    }
  }
}

/// kVecs vectors of the sum, in kWays sums over every kWays-th row, so that additions need not wait for each other.
template <std::size_t kVecs, std::size_t kWays, bool kTail, class RowAt>
HWY_INLINE void sum_columns(const float* HWY_RESTRICT weights, const RowAt& row, std::size_t n, std::size_t column,
                            float scale, float* HWY_RESTRICT y, std::size_t tail) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec sum[kWays][kVecs];
  for (std::size_t w = 0; w < kWays; ++w) {
    for (std::size_t v = 0; v < kVecs; ++v) sum[w][v] = hn::Zero(d);
  }
  const auto add = [&](Vec* HWY_RESTRICT to, std::size_t j) HWY_ATTR {
    const Vec x = hn::Set(d, weights[j]);
    const auto* from = row(j) + column;
    for (std::size_t v = 0; v < kVecs; ++v) {
      const Vec r = kTail && v + 1 == kVecs ? load_floats(from + v * lanes, tail) : load_floats(from + v * lanes);
      to[v] = hn::MulAdd(x, r, to[v]);
    }
  };
  std::size_t j = 0;
  for (; j + kWays <= n; j += kWays) {
    for (std::size_t w = 0; w < kWays; ++w) add(sum[w], j + w);
  }
  for (; j < n; ++j) add(sum[0], j);
  for (std::size_t v = 0; v < kVecs; ++v) {
    Vec total = sum[0][v];
    for (std::size_t w = 1; w < kWays; ++w) total = hn::Add(total, sum[w][v]);
    total = hn::Mul(total, hn::Set(d, scale));
    if (kTail && v + 1 == kVecs) {
      StorePart(total, d, y + column + v * lanes, tail);
    } else {
      hn::StoreU(total, d, y + column + v * lanes);
    }
  }
}

/// y = scale * sum of weights[j] row(j) over j < n; rows and y of `cols` values
template <class RowAt>
HWY_INLINE void weighted_sum(const float* weights, const RowAt& row, std::size_t n, std::size_t cols, float scale,
                             float* y) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t c = 0;
  for (; c + 4 * lanes <= cols; c += 4 * lanes) sum_columns<4, 2, false>(weights, row, n, c, scale, y, 0);
  for (; c + 2 * lanes <= cols; c += 2 * lanes) sum_columns<2, 4, false>(weights, row, n, c, scale, y, 0);
  for (; c + lanes <= cols; c += lanes) sum_columns<1, 4, false>(weights, row, n, c, scale, y, 0);
  if (c < cols) sum_columns<1, 4, true>(weights, row, n, c, scale, y, cols - c);
}

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

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_ATTENTION_ROWS_INL_H_
