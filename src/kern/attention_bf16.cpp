// Attention as products of tiles, for mixed precision on processors that have them: q, k, v, the weights and their
// gradients are rounded to bfloat16 when they are packed; sums and softmax stay float32. The keys and values of a
// row are packed once for all heads that share them, and 32 queries at a time are multiplied with all the keys that
// they see:
//   S = scale Q K^T + B   P = exp(S - max S)   O = drop(P) V / sum P   lse = max S + log sum P
//   R = drop(exp(S - lse))   dV = R^T dO   dR = dO V^T   dB = P * (drop(dR) - dO . O)   dS = dB * scale   dQ = dS K
//   dK = dS^T Q      with a soft cap as in attention.cpp and attention_backward.cpp
// Rows of more than kLongest keys, windows and explicit masks use the float32 kernels, whose scores need no room for
// a whole row. The scratch has room for kLongest keys; shorter rows touch a part of it.
//                                                                             [Vaswani et al. 2017, eq. 1]
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/attention_bf16.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "hwy/contrib/math/math-inl.h"

#include "kern/attention_products-inl.h"
#include "kern/attention_tile-inl.h"
#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/softcap-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr std::size_t kStrip = 32;      // queries per strip
constexpr std::size_t kLongest = 4096;  // the most keys of a row

constexpr std::size_t left_values(std::size_t k) {
  return packed_left_values(kStrip, k);
}

/// The scratch of a call; the forward pass uses its first half.
struct Space {
  std::uint16_t *queries, *keys_across, *values_down, *weights;
  float *s, *product;
  std::uint16_t *d_out, *values_across, *keys_down, *queries_down, *d_out_down, *transposed;
  float* ds;

  Space(float* scratch, std::size_t d_k, std::size_t d_v) {
    Buffers buffers(scratch);
    const auto words = [&](std::size_t n) { return reinterpret_cast<std::uint16_t*>(buffers.take(n / 2)); };
    queries = words(left_values(d_k));
    keys_across = words(packed_right_values(d_k, kLongest));
    values_down = words(packed_right_values(kLongest, d_v));
    weights = words(left_values(kLongest));
    s = buffers.take(kStrip * kLongest);
    product = buffers.take(kStrip * 32);
    d_out = words(left_values(d_v));
    values_across = words(packed_right_values(d_v, kLongest));
    keys_down = words(packed_right_values(kLongest, d_k));
    queries_down = words(packed_right_values(kStrip, d_k));
    d_out_down = words(packed_right_values(kStrip, d_v));
    transposed = words(packed_left_values(kLongest, kStrip));
    ds = buffers.take(kStrip * kLongest);
  }

  static std::size_t need(std::size_t d_k, std::size_t d_v) {
    const std::size_t halves = left_values(d_k) + left_values(d_v) + left_values(kLongest) +
                               2 * packed_right_values(d_k, kLongest) + 2 * packed_right_values(kLongest, d_v) +
                               packed_right_values(kStrip, d_k) + packed_right_values(kStrip, d_v) +
                               packed_left_values(kLongest, kStrip);
    return halves / 2 + 2 * kStrip * kLongest + kStrip * 32 + Buffers::need(0) * 14;
  }
};

std::size_t scratch_of(std::size_t d_k, std::size_t d_v) {
  return larger(float_attention_scratch(d_k, d_v), Space::need(d_k, d_v));
}

/// True if every query of every row sees a key, and the keys of a row have room.
bool fits(const Attention& a) {
  if (!a.bf16 || a.scale <= 0) return false;
  if (a.mask == MaskKind::explicit01 || a.mask == MaskKind::near) return false;
  if (a.mask == MaskKind::causal && a.window > 0) return false;
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const RowSpan& r = a.rows[row];
    if (r.k_len <= 0 || as_size(r.k_len) > kLongest) return false;
    if (a.mask == MaskKind::causal && r.q_len > r.k_len) return false;
  }
  return true;
}

/// Prefetches one head of consecutive tokens of x.
template <bool kToWrite = false>
HWY_INLINE void ask_for(const float* x, std::size_t stride, std::int32_t tokens, std::size_t width) {
  for (std::size_t i = 0; i < as_size(tokens); ++i)
    for (std::size_t c = 0; c < width; c += 16) __builtin_prefetch(x + i * stride + c, kToWrite ? 1 : 0, 2);
}

/// Prefetches the next head while one is being computed. Short rows are read in a pattern that hardware does not
/// predict, a little of each token, and would wait for memory longer than the arithmetic takes. g: null in the
/// forward pass
HWY_INLINE void ask_for_next(const Attention& a, const AttentionGradient* g, std::size_t row, std::size_t head) {
  if (++head == a.heads) head = 0, ++row;
  if (row == a.num_rows || a.rows[row].q_len == 0) return;
  const RowSpan& r = a.rows[row];
  const HeadOf of(a, row, head);
  const bool leads = head % (a.heads / a.kv_heads) == 0;
  ask_for(of.q, a.q_stride, r.q_len, a.d_k);
  if (leads) ask_for(of.k, a.k_stride, r.k_len, a.d_k), ask_for(of.v, a.v_stride, r.k_len, a.d_v);
  if (!g) return;
  const std::size_t token = as_size(r.q_begin), key = as_size(r.k_begin);
  const std::size_t kv_head = head / (a.heads / a.kv_heads);
  ask_for(g->out + token * g->out_stride + head * a.d_v, g->out_stride, r.q_len, a.d_v);
  ask_for(g->d_out + token * g->d_out_stride + head * a.d_v, g->d_out_stride, r.q_len, a.d_v);
  ask_for<true>(g->dq + token * g->dq_stride + head * a.d_k, g->dq_stride, r.q_len, a.d_k);
  if (!leads) return;
  ask_for<true>(g->dk + key * g->dk_stride + kv_head * a.d_k, g->dk_stride, r.k_len, a.d_k);
  ask_for<true>(g->dv + key * g->dv_stride + kv_head * a.d_v, g->dv_stride, r.k_len, a.d_v);
}

/// Queries [first, first + count) of one row and head. They see only keys before `end`, query i those before seen(i).
struct Strip {
  std::size_t row, head, first, count, end, offset;
  bool causal;

  Strip(const Attention& a, std::size_t row_, std::size_t head_, std::size_t first_)
      : row(row_), head(head_), first(first_), causal(a.mask == MaskKind::causal) {
    const RowSpan& r = a.rows[row];
    count = smaller(kStrip, as_size(r.q_len) - first);
    offset = static_cast<std::size_t>(causal ? r.k_len - r.q_len : r.k_len);
    end = seen(count - 1);
  }
  std::size_t seen(std::size_t i) const { return causal ? first + i + 1 + offset : offset; }
  std::size_t blocks() const { return tiles_of(end, 32); }
  std::size_t stride() const { return blocks() * 32; }  // of scores
};

/// The biases between query i of the strip and the row's keys.
HWY_INLINE const float* bias_of(const Attention& a, const Strip& t, std::size_t i) {
  return a.bias.at_zero + t.head * a.bias.stride - position_of(a, t.row, t.first + i);
}

/// Scales and caps or biases the scores of query i, if either applies. Returns the factor that is still to be applied.
HWY_INLINE float settled(const Attention& a, const Strip& t, std::size_t i, float* HWY_RESTRICT s) {
  if (a.softcap > 0) {
    cap_values(Softcap(a.softcap, a.scale), t.seen(i), s, s);
    return 1;
  }
  if (!a.bias) return a.scale;
  const float* const bias = bias_of(a, t, i);
  const Vec scale = hn::Set(Floats(), a.scale);
  ForEach(t.seen(i), [&](std::size_t j, auto io)
                         HWY_ATTR { io.store(hn::MulAdd(io.load(s + j), scale, io.load(bias + j)), s + j); });
  return 1;
}

/// c [count, keys before t.end] = left right; the right operand's panels are of keys
HWY_INLINE void times_keys(const Strip& t, const std::uint16_t* left, const std::uint16_t* right, std::size_t k,
                           float* c) {
  const std::size_t depth = tiles_of(k, 32);
  for (std::size_t j = 0; j < t.end; j += 32)
    Tiles::product(left, depth, right + j / 32 * depth * 2 * tile_values, depth, t.count, t.end - j,
                   {nullptr, 0, c + j, t.stride()});
}

/// Turns one query's scores into exp(s - m), dropped; returns m, and the sum before dropout.
HWY_INLINE float softmax_row(const WeightDropout& drop, std::size_t query, std::size_t seen, std::size_t stride,
                             float scale, float* HWY_RESTRICT s, float& sum) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), whole = seen / lanes * lanes;
  Vec highest = hn::Set(d, -kInfinity);
  for (std::size_t j = 0; j < whole; j += lanes) highest = hn::Max(highest, hn::Load(d, s + j));
  const auto rest = hn::FirstN(d, seen - whole);
  if (whole < seen) highest = hn::Max(highest, hn::IfThenElse(rest, hn::Load(d, s + whole), hn::Set(d, -kInfinity)));
  highest = hn::MaxOfLanes(d, highest);
  const Vec factor = hn::Set(d, scale * log2_e), shift = hn::Mul(highest, factor);
  Vec total = hn::Zero(d);
  const auto weigh = [&](std::size_t j, auto keep) HWY_ATTR {
    Vec p = keep(FastExp2(d, hn::MulSub(hn::Load(d, s + j), factor, shift)));
    total = hn::Add(total, p);
    hn::Store(drop.drops() ? drop.apply(p, query, j) : p, d, s + j);
  };
  std::size_t j = 0;
  for (; j < whole; j += lanes) weigh(j, [](Vec p) HWY_ATTR { return p; });
  if (j < seen) {
    weigh(j, [rest](Vec p) HWY_ATTR { return hn::IfThenElseZero(rest, p); });
    j += lanes;
  }
  for (; j < stride; j += lanes) hn::Store(hn::Zero(d), d, s + j);
  sum = hn::GetLane(hn::SumOfLanes(d, total));
  return hn::GetLane(highest) * scale;
}

void attend(const Attention& a, const Strip& t, const Space& x, float* out, std::size_t out_stride, float* lse) {
  const Floats d;
  const HeadOf head(a, t.row, t.head);
  const WeightDropout drop(a, t.row, t.head);
  HWY_ALIGN float highest[kStrip] = {}, sum[kStrip] = {};
  pack_rows(head.q + t.first * a.q_stride, a.q_stride, t.count, a.d_k, x.queries);
  times_keys(t, x.queries, x.keys_across, a.d_k, x.s);
  for (std::size_t i = 0; i < t.count; ++i) {
    float* const s = x.s + i * t.stride();
    const float scale = settled(a, t, i, s);
    highest[i] = softmax_row(drop, t.first + i, t.seen(i), t.stride(), scale, s, sum[i]);
    if (a.sink_logits) sum[i] += __builtin_expf(a.sink_logits[t.head] - highest[i]);
  }
  pack_rows(x.s, t.stride(), t.count, t.stride(), x.weights);
  const std::size_t panel = tiles_of(as_size(a.rows[t.row].k_len), 32);
  by_columns(x.weights, t.blocks(), x.values_down, panel, t.blocks(), t.count, a.d_v, x.product,
             [&](std::size_t c, std::size_t columns) HWY_ATTR {
               for (std::size_t i = 0; i < t.count; ++i) {
                 const Vec inverse = hn::Set(d, 1.0f / sum[i]);
                 ForEach(columns, [&](std::size_t j, auto io) HWY_ATTR {
                   io.store(hn::Mul(hn::Load(d, x.product + i * 32 + j), inverse), out + i * out_stride + c + j);
                 });
               }
             });
  if (!lse) return;
  for (std::size_t i = 0; i < kStrip; i += hn::Lanes(d))
    hn::Store(hn::Add(hn::Load(d, highest + i), hn::Log(d, hn::Load(d, sum + i))), d, highest + i);
  for (std::size_t i = 0; i < t.count; ++i) lse[i * a.heads] = highest[i];
}

void attention_bf16(const Attention& a, float* out, std::size_t out_stride, float* lse, float* scratch) {
  if (!fits(a)) return attention(a, out, out_stride, lse, scratch);
  const Space x(scratch, a.d_k, a.d_v);
  const std::size_t group = a.heads / a.kv_heads;
  Tiles::begin();
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t q_len = as_size(a.rows[row].q_len), k_len = as_size(a.rows[row].k_len);
    for (std::size_t head = 0; head < a.heads && q_len > 0; ++head) {
      ask_for_next(a, nullptr, row, head);
      if (head % group == 0) {
        const HeadOf of(a, row, head);
        pack_across(of.k, a.k_stride, k_len, a.d_k, x.keys_across);
        pack_down(of.v, a.v_stride, k_len, a.d_v, x.values_down);
      }
      for (std::size_t first = 0; first < q_len; first += kStrip) {
        const std::size_t token = as_size(a.rows[row].q_begin) + first;
        attend(a, Strip(a, row, head, first), x, out + token * out_stride + head * a.d_v, out_stride,
               lse ? lse + token * a.heads + head : nullptr);
      }
    }
  }
  Tiles::end();
}

/// How one query's weights are recomputed from its scores.
struct QueryState {
  float of_scores, scale;  ///< the factor still to be applied to scores; the total scale
  float lse, d_of;         ///< d_of: dO . O
  float softcap;
  float* d_bias;  ///< dB is added here; null: not wanted
};

/// The scores s and the gradients dr of the dropped weights of one query: s becomes drop(P), dr becomes dS.
template <bool kCapped>
HWY_INLINE void weights_and_gradient(const WeightDropout& drop, std::size_t query, std::size_t seen, std::size_t stride,
                                     const QueryState& state, float* HWY_RESTRICT s, float* HWY_RESTRICT dr) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec factor = hn::Set(d, state.of_scores * log2_e), shift = hn::Set(d, state.lse * log2_e),
            mean = hn::Set(d, state.d_of), scale = hn::Set(d, state.scale);
  std::size_t j = 0;
  for (; j < seen; j += lanes) {
    const Vec score = hn::Load(d, s + j);
    Vec p = FastExp2(d, hn::MulSub(score, factor, shift));
    if (j + lanes > seen) p = hn::IfThenElseZero(hn::FirstN(d, seen - j), p);
    Vec dropped = p, dp = hn::Load(d, dr + j);
    if (drop.drops()) {
      dropped = drop.apply(p, query, j);
      dp = drop.apply(dp, query, j);
    }
    const Vec db = hn::Mul(p, hn::Sub(dp, mean));
    const Vec ds = hn::Mul(db, kCapped ? hn::Mul(scale, Softcap(state.softcap).slope(score)) : scale);
    if (state.d_bias) add_part(db, smaller(lanes, seen - j), state.d_bias + j);
    hn::Store(dropped, d, s + j);
    hn::Store(j + lanes > seen ? hn::IfThenElseZero(hn::FirstN(d, seen - j), ds) : ds, d, dr + j);
  }
  for (; j < stride; j += lanes) {
    hn::Store(hn::Zero(d), d, s + j);
    hn::Store(hn::Zero(d), d, dr + j);
  }
}

/// Which gradients are added to existing values.
struct Added {
  bool q, k, v;
};

void strip_backward(const Attention& a, const AttentionGradient& g, const Strip& t, Added added, const Space& x) {
  const HeadOf head(a, t.row, t.head);
  const WeightDropout drop(a, t.row, t.head);
  const RowSpan& r = a.rows[t.row];
  const std::size_t token = as_size(r.q_begin) + t.first, key = as_size(r.k_begin);
  const std::size_t kv_head = t.head / (a.heads / a.kv_heads), panel = tiles_of(as_size(r.k_len), 32);
  const float* const q = head.q + t.first * a.q_stride;
  const float* const d_out = g.d_out + token * g.d_out_stride + t.head * a.d_v;
  const float* const out = g.out + token * g.out_stride + t.head * a.d_v;

  pack_rows(q, a.q_stride, t.count, a.d_k, x.queries);
  pack_rows(d_out, g.d_out_stride, t.count, a.d_v, x.d_out);
  times_keys(t, x.queries, x.keys_across, a.d_k, x.s);
  times_keys(t, x.d_out, x.values_across, a.d_v, x.ds);
  for (std::size_t i = 0; i < t.count; ++i) {
    const float d_of = Sum(a.d_v, [&](std::size_t c, auto io) HWY_ATTR {
      return hn::Mul(io.load(out + i * g.out_stride + c), io.load(d_out + i * g.d_out_stride + c));
    });
    float* const s = x.s + i * t.stride();
    if (g.d_sinks) add_sink_gradient(a, g, t.head, 1, g.lse + (token + i) * a.heads + t.head, &d_of);
    const QueryState state{.of_scores = settled(a, t, i, s),
                           .scale = a.scale,
                           .lse = g.lse[(token + i) * a.heads + t.head],
                           .d_of = d_of,
                           .softcap = a.softcap,
                           .d_bias = g.d_bias ? g.d_bias + (bias_of(a, t, i) - a.bias.at_zero) : nullptr};
    const auto make = a.softcap > 0 ? weights_and_gradient<true> : weights_and_gradient<false>;
    make(drop, t.first + i, t.seen(i), t.stride(), state, s, x.ds + i * t.stride());
  }

  pack_rows(x.ds, t.stride(), t.count, t.stride(), x.weights);
  by_columns(x.weights, t.blocks(), x.keys_down, panel, t.blocks(), t.count, a.d_k, x.product,
             [&](std::size_t c, std::size_t columns) HWY_ATTR {
               PutTile(x.product, t.count, columns, g.dq + token * g.dq_stride + t.head * a.d_k + c, g.dq_stride,
                       added.q);
             });

  const auto over_queries = [&](const float* left, const std::uint16_t* right, std::size_t n, float* y,
                                std::size_t stride, bool add) HWY_ATTR {
    pack_turned(left, t.stride(), t.count, t.end, x.transposed);
    for (std::size_t j = 0; j < t.end; j += 32) {
      const std::size_t rows = smaller(32, t.end - j);
      by_columns(x.transposed + j / 16 * tile_values, 1, right, 1, 1, rows, n, x.product,
                 [&](std::size_t c, std::size_t columns)
                     HWY_ATTR { PutTile(x.product, rows, columns, y + j * stride + c, stride, add); });
    }
  };
  pack_down(q, a.q_stride, t.count, a.d_k, x.queries_down);
  pack_down(d_out, g.d_out_stride, t.count, a.d_v, x.d_out_down);
  over_queries(x.ds, x.queries_down, a.d_k, g.dk + key * g.dk_stride + kv_head * a.d_k, g.dk_stride, added.k);
  over_queries(x.s, x.d_out_down, a.d_v, g.dv + key * g.dv_stride + kv_head * a.d_v, g.dv_stride, added.v);
}

void attention_bf16_backward(const Attention& a, const AttentionGradient& g, float* scratch) {
  if (!fits(a)) return attention_backward(a, g, scratch);
  const Space x(scratch, a.d_k, a.d_v);
  const std::size_t group = a.heads / a.kv_heads;
  Tiles::begin();
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const RowSpan& r = a.rows[row];
    const std::size_t q_len = as_size(r.q_len), k_len = as_size(r.k_len);
    // A single strip can store the gradients of keys and values; several strips add to zeroed rows.
    const bool single = q_len > 0 && q_len <= kStrip;
    const auto clear = [&](float* y, std::size_t stride, std::size_t cols) HWY_ATTR {
      y += as_size(r.k_begin) * stride;
      for (std::size_t j = 0; j < k_len; ++j)
        ForEach(cols, [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Zero(Floats()), y + j * stride + c); });
    };
    if (!single && !g.accumulate_k) clear(g.dk, g.dk_stride, a.kv_heads * a.d_k);
    if (!single && !g.accumulate_v) clear(g.dv, g.dv_stride, a.kv_heads * a.d_v);
    for (std::size_t head = 0; head < a.heads && q_len > 0; ++head) {
      const bool leads = head % group == 0;
      ask_for_next(a, &g, row, head);
      if (leads) {
        const HeadOf of(a, row, head);
        pack_across(of.k, a.k_stride, k_len, a.d_k, x.keys_across);
        pack_across(of.v, a.v_stride, k_len, a.d_v, x.values_across);
        pack_down(of.k, a.k_stride, k_len, a.d_k, x.keys_down);
      }
      const bool adds = !single || !leads;
      for (std::size_t first = 0; first < q_len; first += kStrip)
        strip_backward(a, g, Strip(a, row, head, first),
                       {g.accumulate_q, adds || g.accumulate_k, adds || g.accumulate_v}, x);
    }
  }
  Tiles::end();
}

}  // namespace

void fill_attention_tiles(Kernels& k) {
  k.attention_scratch = scratch_of;
  k.attention = attention_bf16;
  k.attention_backward = attention_bf16_backward;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_AVX3
