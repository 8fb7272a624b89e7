// Attention in tiles with a running softmax: no matrix of q_len x k_len ever exists [Vaswani et al. 2017, eq. 1;
// Milakov & Gimelshein 2018; Dao et al. 2022, algorithm 1; with one division, at the end, and lse alone kept: Dao 2023,
// section 3.1]. m and l are the maximum and the sum so far. For each tile of keys:
//   S = scale Q K^T + B, or cap tanh(scale Q K^T / cap)   m' = max(m, max S)   P = exp(S - m')   l = l exp(m - m') + sum P   O = O exp(m - m') + drop(P) V
// and at the end O / l, lse = m + log l. O is accumulated in `out`. If a row's keys fit one tile, the loop runs once.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

#include "kern/attention_rows-inl.h"
#include "kern/attention_tile-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/small_gemm-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr std::size_t kFewQueries = 2;  // for so few, dot products are cheaper than transposing the keys first

struct Softmax {
  HWY_ALIGN float highest[kQueries];  // m
  HWY_ALIGN float sum[kQueries];      // l
  HWY_ALIGN float carry[kQueries];    // exp(m - m'): the factor of the tiles before
};

/// The scores of the block's queries and the tile's first `used` keys, in rows of t.stride.
void scores(const Attention& a, const QueryBlock& b, const KeyTile& t, std::size_t used, TransposedTile& keys,
            float* s) {
  const HeadOf head(a, b.row, b.head);
  const float* q = head.q + b.first * a.q_stride;
  if (b.count <= kFewQueries) {
    const RowsInOrder rows{head.k + t.start * a.k_stride, a.k_stride};
    for (std::size_t i = 0; i < b.count; ++i)
      dot_rows(q + i * a.q_stride, a.d_k, rows, used, a.scale, s + i * t.stride);
  } else {
    SmallGemm g{.m = b.count, .n = round_up(used), .k = a.d_k, .a = q, .a_row = a.q_stride};
    g.b = keys.of(head.k, a.k_stride, a.d_k, t);
    g.b_stride = g.c_stride = t.stride;
    g.c = s;
    g.scale = a.scale;
    small_gemm(g);
  }
  for (std::size_t i = 0; i < b.count && a.softcap > 0; ++i) cap_scores(a.softcap, used, s + i * t.stride);
  for (std::size_t i = 0; i < b.count && a.bias; ++i) add_bias(bias_of(a, b, t, i), used, s + i * t.stride);
}

/// s = drop(exp(s - shift)) in the range and zero in the rest of [0, used); returns the sums before dropout, by lanes.
HWY_INLINE Vec exponentiate(const WeightDropout& drop, std::size_t query, const KeyTile& t, TileRange range,
                            std::size_t used, float shift, float* HWY_RESTRICT s) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec m = hn::Set(d, shift);
  Vec sum = hn::Zero(d);
  std::size_t j = 0;
  for (; j < range.begin / lanes * lanes; j += lanes) hn::Store(hn::Zero(d), d, s + j);
  for (; j < range.end; j += lanes) {
    Vec p = FastExp(d, hn::Sub(hn::Load(d, s + j), m));
    sum = hn::Add(sum, p);
    if (drop.drops()) p = drop.apply(p, query, t.start + j);
    hn::Store(p, d, s + j);
  }
  for (; j < used; j += lanes) hn::Store(hn::Zero(d), d, s + j);
  return sum;
}

/// The complete softmax of a block whose keys fit kVecs vectors, four queries at a time, all in registers.
template <std::size_t kVecs>
HWY_INLINE void softmax_short(const WeightDropout& drop, const QueryBlock& b, const KeyTile& t, float* s,
                              Softmax& state) {
  const Floats d;
  const hn::Full128<float> d4;
  const std::size_t lanes = hn::Lanes(d);
  const Vec lowest = hn::Set(d, -kInfinity);
  for (std::size_t first = 0; first < b.count; first += 4) {
    Vec x[4][kVecs], by_lanes[4];
    float* row[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t query = smaller(first + i, b.count - 1);  // repeats the last one if fewer than four are left
      const Visible& v = b.visible[query];
      const TileRange range(v, t);
      row[i] = s + query * t.stride;
      if (v.even || v.allow) mask_scores(v, t, range, row[i]);
      for (std::size_t c = 0; c < kVecs; ++c) {
        x[i][c] = hn::IfThenElse(in_range(range, c * lanes), hn::Load(d, row[i] + c * lanes), lowest);
      }
      by_lanes[i] = kVecs == 1 ? x[i][0] : LargerOf(x[i][0], x[i][kVecs - 1]);
    }
    const auto highest = reduce4(by_lanes[0], by_lanes[1], by_lanes[2], by_lanes[3], LargerLanes());
    HWY_ALIGN float shift[4];
    hn::Store(highest, d4, state.highest + first);
    hn::Store(hn::IfThenElse(hn::Eq(highest, hn::Set(d4, -kInfinity)), hn::Zero(d4), highest), d4, shift);
    for (std::size_t i = 0; i < 4; ++i) {
      by_lanes[i] = hn::Zero(d);
      for (std::size_t c = 0; c < kVecs; ++c) {
        Vec p = FastExp(d, hn::Sub(x[i][c], hn::Set(d, shift[i])));
        by_lanes[i] = hn::Add(by_lanes[i], p);
        if (drop.drops()) p = drop.apply(p, b.first + smaller(first + i, b.count - 1), t.start + c * lanes);
        hn::Store(p, d, row[i] + c * lanes);
      }
    }
    hn::Store(reduce4(by_lanes[0], by_lanes[1], by_lanes[2], by_lanes[3], AddLanes()), d4, state.sum + first);
  }
}

/// Turns the tile's scores into weights relative to the running maximum, four queries at a time.
void softmax_tile(const WeightDropout& drop, const QueryBlock& b, const KeyTile& t, std::size_t used, bool first_tile,
                  float* s, Softmax& state) {
  static_assert(kQueries % 4 == 0);
  const hn::Full128<float> d4;
  const std::size_t lanes = hn::Lanes(Floats());
  if (first_tile && used <= lanes) return softmax_short<1>(drop, b, t, s, state);
  if (first_tile && used <= 2 * lanes) return softmax_short<2>(drop, b, t, s, state);
  for (std::size_t first = 0; first < b.count; first += 4) {
    const std::size_t count = smaller(4, b.count - first);
    HWY_ALIGN float highest[4], sums[4];
    Vec by_lanes[4] = {hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats())};
    for (std::size_t i = 0; i < count; ++i) {
      const Visible& v = b.visible[first + i];
      by_lanes[i] = mask_scores(v, t, TileRange(v, t), s + (first + i) * t.stride);
    }
    hn::Store(reduce4(by_lanes[0], by_lanes[1], by_lanes[2], by_lanes[3], LargerLanes()), d4, highest);
    for (std::size_t i = 0; i < count; ++i) {
      const float before = first_tile ? -kInfinity : state.highest[first + i];
      const float now = highest[i] > before ? highest[i] : before;
      state.carry[first + i] = now == before ? 1.0f : first_tile ? 0.0f : __builtin_expf(before - now);
      state.highest[first + i] = now;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const float now = state.highest[first + i];
      const float shift = now == -kInfinity ? 0.0f : now;  // nothing seen yet: exp(-inf - 0) = 0
      const TileRange range(b.visible[first + i], t);
      by_lanes[i] = exponentiate(drop, b.first + first + i, t, range, used, shift, s + (first + i) * t.stride);
    }
    hn::Store(reduce4(by_lanes[0], by_lanes[1], by_lanes[2], by_lanes[3], AddLanes()), d4, sums);
    for (std::size_t i = 0; i < count; ++i) {
      float& sum = state.sum[first + i];
      sum = first_tile ? sums[i] : sum * state.carry[first + i] + sums[i];
    }
  }
}

/// l += exp(sink - m): a weight without a value.
void add_sink(float sink, std::size_t count, Softmax& state) {
  for (std::size_t i = 0; i < count; ++i)
    if (state.sum[i] > 0) state.sum[i] += __builtin_expf(sink - state.highest[i]);
}

/// O = (O carry + P V) * scales
void add_values(const Attention& a, const QueryBlock& b, const KeyTile& t, std::size_t used, const float* s, bool first,
                const Softmax& state, const float* scales, float* out, std::size_t out_stride) {
  const float* v = HeadOf(a, b.row, b.head).v + t.start * a.v_stride;
  if (first && b.count <= kFewQueries) {
    const RowsInOrder rows{v, a.v_stride};
    for (std::size_t i = 0; i < b.count; ++i) {
      weighted_sum(s + i * t.stride, rows, used, a.d_v, scales ? scales[i] : 1.0f, out + i * out_stride);
    }
    return;
  }
  for (std::size_t i = 0; i < b.count && !first; ++i) {
    if (state.carry[i] == 1) continue;
    const Vec carry = hn::Set(Floats(), state.carry[i]);
    float* y = out + i * out_stride;
    ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Mul(carry, io.load(y + c)), y + c); });
  }
  SmallGemm g{.m = b.count, .n = a.d_v, .k = used, .a = s, .a_row = t.stride};
  g.b = v;
  g.b_stride = a.v_stride;
  g.c = out;
  g.c_stride = out_stride;
  g.accumulate = !first;
  g.row_scale = scales;
  small_gemm(g);
}

/// lse = m + log l, one for each query, `stride` apart.
void store_lse(const QueryBlock& b, const Softmax& state, float* lse, std::size_t stride) {
  const Floats d;
  HWY_ALIGN float log_sum[kQueries];  // whole vectors are stored; values after the last query are not used
  for (std::size_t i = 0; i < b.count; i += hn::Lanes(d))
    hn::Store(hn::Log(d, hn::Load(d, state.sum + i)), d, log_sum + i);
  for (std::size_t i = 0; i < b.count; ++i) {
    // The sum has been set: by a tile of keys, or to 0 where no key is visible.
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    lse[i * stride] = b.visible[i].even ? -1e9f : state.sum[i] > 0 ? state.highest[i] + log_sum[i] : -kInfinity;
  }
}

void attend(const Attention& a, const QueryBlock& b, TransposedTile& keys, float* s, float* out, std::size_t out_stride,
            float* lse) {
  const WeightDropout drop(a, b.row, b.head);
  Softmax state;
  HWY_ALIGN float inverse[kQueries];
  const std::size_t begin = b.begin / kKeys * kKeys;
  for (std::size_t start = begin; start < b.end; start += kKeys) {
    const KeyTile t = tile_at(a, b.row, start);
    const std::size_t used = smaller(t.cols, b.end - start);
    scores(a, b, t, used, keys, s);
    softmax_tile(drop, b, t, used, start == begin, s, state);
    const bool last = start + kKeys >= b.end;
    if (last && a.sink_logits) add_sink(a.sink_logits[b.head], b.count, state);
    for (std::size_t i = 0; i < b.count && last; ++i) inverse[i] = state.sum[i] > 0 ? 1.0f / state.sum[i] : 0.0f;
    add_values(a, b, t, used, s, start == begin, state, last ? inverse : nullptr, out, out_stride);
  }
  for (std::size_t i = 0; i < b.count && b.begin == b.end; ++i) {
    state.sum[i] = 0;
    for (std::size_t c = 0; c < a.d_v; ++c) out[i * out_stride + c] = 0;
  }
  if (lse) store_lse(b, state, lse, a.heads);
}

}  // namespace

void attention(const Attention& a, float* out, std::size_t out_stride, float* lse, float* scratch) {
  Buffers buffers(scratch);
  TransposedTile keys(buffers.take(kKeys * a.d_k));
  float* s = buffers.take(kQueries * kKeys);
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    for (std::size_t head = 0; head < a.heads; ++head) {
      for (std::size_t first = 0; first < as_size(a.rows[row].q_len); first += kQueries) {
        const std::size_t token = as_size(a.rows[row].q_begin) + first;
        attend(a, QueryBlock(a, row, head, first), keys, s, out + token * out_stride + head * a.d_v, out_stride,
               lse ? lse + token * a.heads + head : nullptr);
      }
    }
  }
}

/// Forward and weights need transposed keys and scores; backward needs both transposed, scores and their gradients,
/// and D.
std::size_t float_attention_scratch(std::size_t d_k, std::size_t d_v) {
  return Buffers::need(kKeys * d_k) + Buffers::need(kKeys * d_v) + 2 * Buffers::need(kQueries * kKeys) +
         Buffers::need(kQueries);
}

void attention_weights(const Attention& a, const float* lse, float* weights, float* scratch) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Buffers buffers(scratch);
  TransposedTile keys(buffers.take(kKeys * a.d_k));
  float* s = buffers.take(kQueries * kKeys);
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t q_len = as_size(a.rows[row].q_len);
    const std::size_t k_len = as_size(a.rows[row].k_len);
    for (std::size_t head = 0; head < a.heads; ++head, weights += q_len * k_len) {
      for (std::size_t j = 0; j < q_len * k_len; ++j) weights[j] = 0;
      for (std::size_t first = 0; first < q_len; first += kQueries) {
        const QueryBlock b(a, row, head, first);
        for (std::size_t start = b.begin / kKeys * kKeys; start < b.end; start += kKeys) {
          const KeyTile t = tile_at(a, b.row, start);
          scores(a, b, t, smaller(t.cols, b.end - start), keys, s);
          for (std::size_t i = 0; i < b.count; ++i) {
            const Visible& v = b.visible[i];
            const TileRange range(v, t);
            const std::size_t token = as_size(a.rows[row].q_begin) + first + i;
            const float shift = v.even ? __builtin_logf(static_cast<float>(k_len)) : lse[token * a.heads + head];
            mask_scores(v, t, range, s + i * t.stride);
            float* to = weights + (first + i) * k_len + start;
            for (std::size_t j = range.begin / lanes * lanes; j < range.end; j += lanes) {
              const Vec p = FastExp(d, hn::Sub(hn::Load(d, s + i * t.stride + j), hn::Set(d, shift)));
              StorePart(p, d, to + j, smaller(lanes, range.end - j));
            }
          }
        }
      }
    }
  }
}

void fill_attention(Kernels& k) {
  k.attention_scratch = float_attention_scratch;
  k.attention = attention;
  k.attention_backward = attention_backward;
  k.attention_weights = attention_weights;
  fill_cached_attention(k);
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
