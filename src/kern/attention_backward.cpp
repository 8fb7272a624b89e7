// The gradient of attention, tile by tile, with the weights recomputed from lse [Dao et al. 2022, algorithm 4 and B.2; Dao 2023,
// algorithm 2]:
//   P = exp(scale Q K^T + B - lse)   R = drop(P)   dV = R^T dO   dR = dO V^T   D_i = dO_i . O_i
//   dB = P * (drop(dR) - D)   dS = dB * scale   dQ = dS K   dK = dS^T Q
// With a soft cap P = exp(C - lse), C = cap tanh(scale Q K^T / cap), and dS = dB * scale * (1 - (C / cap)^2).
// The gradient of the bias of distance d is the sum of dB along its diagonal, over all pairs of a query and the key
// at distance d.
// D holds with dropout too: sum over j of P_ij drop(dR)_ij = sum over j of R_ij dR_ij = dO_i . O_i.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/attention_backward.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/attention_tile-inl.h"
#include "kern/math-inl.h"
#include "kern/small_gemm-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

struct Workspace {
  TransposedTile keys, values;
  float *s, *dr, *d;  ///< scores, then weights; their gradients; D of each query
};

/// The operands of a block: the queries, out and d_out from its first token on.
struct BlockOf {
  const float *q, *out, *d_out, *lse;
  float* dq;
  BlockOf(const Attention& a, const AttentionGradient& g, const QueryBlock& b) {
    const std::size_t token = as_size(a.rows[b.row].q_begin) + b.first;
    q = a.q + token * a.q_stride + b.head * a.d_k;
    out = g.out + token * g.out_stride + b.head * a.d_v;
    d_out = g.d_out + token * g.d_out_stride + b.head * a.d_v;
    lse = g.lse + token * a.heads + b.head;
    dq = g.dq + token * g.dq_stride + b.head * a.d_k;
  }
};

void clear(float* y, std::size_t stride, std::size_t rows, std::size_t cols) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < cols; ++c) y[i * stride + c] = 0;
  }
}

/// D_i = dO_i . O_i for the queries of a block
void dot_outputs(const Attention& a, const AttentionGradient& g, const BlockOf& x, std::size_t count, float* d_of) {
  for (std::size_t first = 0; first < count; first += 4) {
    Vec sums[4] = {hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats()), hn::Zero(Floats())};
    for (std::size_t i = 0; i < smaller(4, count - first); ++i) {
      const float* y = x.out + (first + i) * g.out_stride;
      const float* dy = x.d_out + (first + i) * g.d_out_stride;
      Vec sum = hn::Zero(Floats());
      ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR { sum = hn::MulAdd(io.load(y + c), io.load(dy + c), sum); });
      sums[i] = sum;
    }
    hn::StoreU(reduce4(sums[0], sums[1], sums[2], sums[3], AddLanes()), hn::Full128<float>(), d_of + first);
  }
}

/// One query's scores s and the gradients dr of its dropped weights, over [0, used): s becomes drop(P), dr becomes
/// dS, and dB is added to d_bias if there is one.
template <bool kCapped>
HWY_INLINE void weights_and_gradient(const Attention& a, const WeightDropout& drop, const Visible& v, std::size_t query,
                                     const KeyTile& t, std::size_t used, float lse, float d_of, float* HWY_RESTRICT s,
                                     float* HWY_RESTRICT dr, float* HWY_RESTRICT d_bias) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const TileRange range(v, t);
  mask_scores(v, t, range, s);
  const Vec shift = hn::Set(d, v.even ? __builtin_logf(static_cast<float>(v.end)) : lse);
  const Vec scale = hn::Set(d, v.even ? 0.0f : a.scale), mean = hn::Set(d, d_of);  // even: constant scores, no gradient
  for (std::size_t j = 0; j < used; j += lanes) {
    if (j + lanes <= range.begin || j >= range.end) {
      hn::Store(hn::Zero(d), d, s + j);
      hn::Store(hn::Zero(d), d, dr + j);
      continue;
    }
    const Vec score = hn::Load(d, s + j), p = FastExp(d, hn::Sub(score, shift));
    Vec dropped = p, dp = hn::Load(d, dr + j);
    if (drop.drops()) {
      dropped = drop.apply(p, query, t.start + j);
      dp = drop.apply(dp, query, t.start + j);
    }
    const Vec db = hn::Mul(p, hn::Sub(dp, mean));
    hn::Store(dropped, d, s + j);
    hn::Store(hn::Mul(db, kCapped ? hn::Mul(scale, Softcap(a.softcap).slope(score)) : scale), d, dr + j);
    if (d_bias && !v.even) add_part(db, smaller(lanes, used - j), d_bias + j);
  }
}

/// The gradients that a block stores; the others it adds.
struct Stored {
  bool q, k, v;
};

/// The contribution of one block of queries and a tile's first `used` keys to the gradients.
void block_backward(const Attention& a, const AttentionGradient& g, const QueryBlock& b, const KeyTile& t,
                    std::size_t used, Stored stored, Workspace& w) {
  const BlockOf x(a, g, b);
  const HeadOf head(a, b.row, b.head);
  const WeightDropout drop(a, b.row, b.head);
  const std::size_t kv_head = b.head / (a.heads / a.kv_heads);
  const std::size_t key = as_size(a.rows[b.row].k_begin) + t.start;

  SmallGemm s{.m = b.count, .n = round_up(used), .k = a.d_k, .a = x.q, .a_row = a.q_stride};
  s.b = w.keys.of(head.k, a.k_stride, a.d_k, t);
  s.c = w.s;
  s.b_stride = s.c_stride = t.stride;
  s.scale = a.scale;
  small_gemm(s);
  for (std::size_t i = 0; i < b.count && a.softcap > 0; ++i) cap_scores(a.softcap, used, w.s + i * t.stride);
  for (std::size_t i = 0; i < b.count && a.bias; ++i) add_bias(bias_of(a, b, t, i), used, w.s + i * t.stride);
  SmallGemm dr{.m = b.count, .n = round_up(used), .k = a.d_v, .a = x.d_out, .a_row = g.d_out_stride};
  dr.b = w.values.of(head.v, a.v_stride, a.d_v, t);
  dr.c = w.dr;
  dr.b_stride = dr.c_stride = t.stride;
  small_gemm(dr);

  dot_outputs(a, g, x, b.count, w.d);
  if (g.d_sinks && t.start == b.begin / kKeys * kKeys) add_sink_gradient(a, g, b.head, b.count, x.lse, w.d);
  for (std::size_t i = 0; i < b.count; ++i) {
    float* const d_bias = g.d_bias ? g.d_bias + (bias_of(a, b, t, i) - a.bias.at_zero) : nullptr;
    const auto make = a.softcap > 0 ? weights_and_gradient<true> : weights_and_gradient<false>;
    make(a, drop, b.visible[i], b.first + i, t, used, x.lse[i * a.heads], w.d[i], w.s + i * t.stride,
         w.dr + i * t.stride, d_bias);
  }

  SmallGemm dv{.m = used, .n = a.d_v, .k = b.count, .a = w.s, .a_row = 1, .a_col = t.stride, .b = x.d_out};
  dv.b_stride = g.d_out_stride;
  dv.c = g.dv + key * g.dv_stride + kv_head * a.d_v;
  dv.c_stride = g.dv_stride;
  dv.accumulate = !stored.v;
  small_gemm(dv);
  SmallGemm dq{.m = b.count, .n = a.d_k, .k = used, .a = w.dr, .a_row = t.stride, .a_col = 1};
  dq.b = head.k + t.start * a.k_stride;
  dq.b_stride = a.k_stride;
  dq.c = x.dq;
  dq.c_stride = g.dq_stride;
  dq.accumulate = !stored.q;
  small_gemm(dq);
  SmallGemm dk{.m = used, .n = a.d_k, .k = b.count, .a = w.dr, .a_row = 1, .a_col = t.stride, .b = x.q};
  dk.b_stride = a.q_stride;
  dk.c = g.dk + key * g.dk_stride + kv_head * a.d_k;
  dk.c_stride = g.dk_stride;
  dk.accumulate = !stored.k;
  small_gemm(dk);
}

}  // namespace

void attention_backward(const Attention& a, const AttentionGradient& g, float* scratch) {
  Buffers buffers(scratch);
  Workspace w{TransposedTile(buffers.take(kKeys * a.d_k)), TransposedTile(buffers.take(kKeys * a.d_v)),
              buffers.take(kQueries * kKeys), buffers.take(kQueries * kKeys), buffers.take(kQueries)};
  const std::size_t group = a.heads / a.kv_heads;
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t q_len = as_size(a.rows[row].q_len), q = as_size(a.rows[row].q_begin);
    const std::size_t k_len = as_size(a.rows[row].k_len), k = as_size(a.rows[row].k_begin);
    // If there is one block and one tile, their products can store the gradients; otherwise all are added to
    // zeroed rows.
    const bool single = q_len > 0 && q_len <= kQueries && k_len > 0 && k_len <= kKeys;
    if (!single && !g.accumulate_q) clear(g.dq + q * g.dq_stride, g.dq_stride, q_len, a.heads * a.d_k);
    if (!single && !g.accumulate_k) clear(g.dk + k * g.dk_stride, g.dk_stride, k_len, a.kv_heads * a.d_k);
    if (!single && !g.accumulate_v) clear(g.dv + k * g.dv_stride, g.dv_stride, k_len, a.kv_heads * a.d_v);
    for (std::size_t kv_head = 0; kv_head < a.kv_heads; ++kv_head) {
      for (std::size_t start = 0; start < k_len; start += kKeys) {
        const KeyTile t = tile_at(a, row, start);
        for (std::size_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
          const bool store_kv = single && head == kv_head * group;
          for (std::size_t first = 0; first < q_len; first += kQueries) {
            const QueryBlock b(a, row, head, first);
            if (!single && (b.begin == b.end || b.end <= start || b.begin >= start + t.cols)) continue;
            const std::size_t used = single ? t.cols : smaller(t.cols, b.end - start);
            const Stored stored{single && !g.accumulate_q, store_kv && !g.accumulate_k, store_kv && !g.accumulate_v};
            block_backward(a, g, b, t, used, stored, w);
          }
        }
      }
    }
  }
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
