// Attention of single queries: scores as dot products with whole keys, four at a time, and the weighted sum of values.
// Keys need not be transposed and may be anywhere in memory, so this is the faster way for one or two queries.
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

// Loads values of a cache's rows, float32 or converted from 8 bits.
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

/// Queries, or their weights, that share a pass over keys or values, so that each key or value is converted to
/// float once for all.
constexpr std::size_t kMostShared = hn::MaxLanes(Floats()) >= 16 ? 4 : 2;  // limited by the number of registers

/// Prefetches the rows kAhead after rows [j, j + count), if RowAt knows where they are.
constexpr std::size_t kAhead = 32;
template <class RowAt>
HWY_INLINE void ask_ahead(const RowAt& row, std::size_t j, std::size_t count) {
  if constexpr (requires { row.ask_for(j); })
    for (std::size_t i = j + kAhead; i < j + kAhead + count; ++i) row.ask_for(i);
}

/// s[i stride + j] = scale * (q_i . key(j)) for j < n and kShared queries q_i, d_k apart; for one query any stride
template <std::size_t kShared = 1, class KeyAt>
HWY_INLINE void dot_rows(const float* HWY_RESTRICT q, std::size_t d_k, const KeyAt& key, std::size_t n, float scale,
                         float* HWY_RESTRICT s, std::size_t stride = 0) {
  const Floats d;
  const hn::Full128<float> d4;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < n; j += 4) {
    ask_ahead(key, j, 4);
    const auto *k0 = key(j), *k1 = j + 1 < n ? key(j + 1) : k0, *k2 = j + 2 < n ? key(j + 2) : k0,
               *k3 = j + 3 < n ? key(j + 3) : k0;
    Vec sums[kShared][4];
    for (std::size_t i = 0; i < kShared; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = hn::Zero(d);
    const auto add = [&](std::size_t i, Vec x, Vec y0, Vec y1, Vec y2, Vec y3) HWY_ATTR {
      sums[i][0] = hn::MulAdd(x, y0, sums[i][0]);
      sums[i][1] = hn::MulAdd(x, y1, sums[i][1]);
      sums[i][2] = hn::MulAdd(x, y2, sums[i][2]);
      sums[i][3] = hn::MulAdd(x, y3, sums[i][3]);
    };
    std::size_t c = 0;
    for (; c + lanes <= d_k; c += lanes) {
      const Vec y0 = load_floats(k0 + c), y1 = load_floats(k1 + c), y2 = load_floats(k2 + c), y3 = load_floats(k3 + c);
      for (std::size_t i = 0; i < kShared; ++i) add(i, hn::LoadU(d, q + i * d_k + c), y0, y1, y2, y3);
    }
    if (const std::size_t tail = d_k - c; tail != 0) {
      const Vec y0 = load_floats(k0 + c, tail), y1 = load_floats(k1 + c, tail), y2 = load_floats(k2 + c, tail),
                y3 = load_floats(k3 + c, tail);
      for (std::size_t i = 0; i < kShared; ++i) add(i, LoadPart(d, q + i * d_k + c, tail), y0, y1, y2, y3);
    }
    for (std::size_t i = 0; i < kShared; ++i) {
      const auto four =
          hn::Mul(reduce4(sums[i][0], sums[i][1], sums[i][2], sums[i][3], AddLanes()), hn::Set(d4, scale));
      if (j + 4 <= n) {
        hn::StoreU(four, d4, s + i * stride + j);
      } else {
        StorePart(four, d4, s + i * stride + j, n - j);
      }
    }
  }
}

/// The sums of n rows, scales[i] * sum of weights[i stride + j] row(j) over j < n.
struct WeightedSums {
  const float* weights;
  std::size_t stride, n;
  const float* scales;
  float* y;  ///< contiguous rows of `cols` values
  std::size_t cols;
  bool adds = false;  ///< to y; otherwise replaces it
};

/// kVecs vectors of the sums. Each is split into kWays partial sums over every kWays-th row, so that additions do
/// not wait for each other.
template <std::size_t kShared, std::size_t kVecs, std::size_t kWays, bool kTail, class RowAt>
HWY_INLINE void sum_columns(const WeightedSums& s, const RowAt& row, std::size_t column, std::size_t tail = 0) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec sum[kWays][kShared][kVecs];
  for (std::size_t w = 0; w < kWays; ++w)
    for (std::size_t i = 0; i < kShared; ++i)
      for (std::size_t v = 0; v < kVecs; ++v) sum[w][i][v] = hn::Zero(d);
  const auto add = [&](std::size_t w, std::size_t j) HWY_ATTR {
    const auto* from = row(j) + column;
    Vec r[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v)
      r[v] = kTail && v + 1 == kVecs ? load_floats(from + v * lanes, tail) : load_floats(from + v * lanes);
    for (std::size_t i = 0; i < kShared; ++i) {
      const Vec x = hn::Set(d, s.weights[i * s.stride + j]);
      for (std::size_t v = 0; v < kVecs; ++v) sum[w][i][v] = hn::MulAdd(x, r[v], sum[w][i][v]);
    }
  };
  std::size_t j = 0;
  for (; j + kWays <= s.n; j += kWays) {
    if (column == 0) ask_ahead(row, j, kWays);
    for (std::size_t w = 0; w < kWays; ++w) add(w, j + w);
  }
  for (; j < s.n; ++j) add(0, j);
  for (std::size_t i = 0; i < kShared; ++i)
    for (std::size_t v = 0; v < kVecs; ++v) {
      Vec total = sum[0][i][v];
      for (std::size_t w = 1; w < kWays; ++w) total = hn::Add(total, sum[w][i][v]);
      const Vec scale = hn::Set(d, s.scales[i]);
      float* const to = s.y + i * s.cols + column + v * lanes;
      // Products are not left for the compiler to fuse, which it may do here and not there.
      if (kTail && v + 1 == kVecs)
        StorePart(s.adds ? hn::MulAdd(total, scale, LoadPart(d, to, tail)) : hn::Mul(total, scale), d, to, tail);
      else
        hn::StoreU(s.adds ? hn::MulAdd(total, scale, hn::LoadU(d, to)) : hn::Mul(total, scale), d, to);
    }
}

/// For kShared rows of weights. The order of a sum does not depend on what else shares the pass.
template <std::size_t kShared, class RowAt>
HWY_INLINE void weighted_sums(const WeightedSums& s, const RowAt& row) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t c = 0;
  for (; c + 4 * lanes <= s.cols; c += 4 * lanes) {
    if constexpr (kShared == 1) {
      sum_columns<1, 4, 2, false>(s, row, c);
    } else {
      sum_columns<kShared, 2, 2, false>(s, row, c);
      sum_columns<kShared, 2, 2, false>(s, row, c + 2 * lanes);
    }
  }
  for (std::size_t i = 0; i < kShared; ++i) {
    WeightedSums one = s;
    one.weights += i * s.stride, one.scales += i, one.y += i * s.cols;
    std::size_t k = c;
    for (; k + 2 * lanes <= s.cols; k += 2 * lanes) sum_columns<1, 2, 4, false>(one, row, k);
    for (; k + lanes <= s.cols; k += lanes) sum_columns<1, 1, 4, false>(one, row, k);
    if (k < s.cols) sum_columns<1, 1, 4, true>(one, row, k, s.cols - k);
  }
}

/// y = scale * sum of weights[j] row(j) over j < n; rows and y of `cols` values
template <class RowAt>
HWY_INLINE void weighted_sum(const float* weights, const RowAt& row, std::size_t n, std::size_t cols, float scale,
                             float* y) {
  weighted_sums<1>({.weights = weights, .stride = n, .n = n, .scales = &scale, .y = y, .cols = cols}, row);
}

/// s = exp(s - max); returns 1 / (sum + exp(sink - max)), for n > 0 scores.
HWY_INLINE float exponentiate(float* HWY_RESTRICT s, std::size_t n, float sink = -kInfinity) {
  const Floats d;
  Vec highest = hn::Set(d, -kInfinity);
  ForEach(n, [&](std::size_t j, auto io)
                 HWY_ATTR { highest = LargerOf(highest, io.or_else(io.load(s + j), hn::Set(d, -kInfinity))); });
  const Vec shift = hn::MaxOfLanes(d, highest);
  Vec sum = hn::Zero(d);
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec e = FastExp(d, hn::Sub(io.load(s + j), shift));
    io.store(e, s + j);
    sum = hn::Add(sum, io.or_else(e, hn::Zero(d)));
  });
  const float of_scores = hn::GetLane(hn::SumOfLanes(d, sum));
  if (sink == -kInfinity) return 1.0f / of_scores;
  return 1.0f / (of_scores + __builtin_expf(sink - hn::GetLane(shift)));
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_ATTENTION_ROWS_INL_H_
