// Shared by the passes of attention: the tile of kQueries x kKeys scores, the visible keys of a query, the transposed
// copy of a tile's keys, and sums over the lanes of four vectors at once. Included once for each instruction set.
#if defined(TRIL_KERN_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_ATTENTION_TILE_INL_H_
#undef TRIL_KERN_ATTENTION_TILE_INL_H_
#else
#define TRIL_KERN_ATTENTION_TILE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "base/as_size.h"
#include "hwy/highway.h"
#include "kern/attention.h"
#include "kern/kernels.h"
#include "kern/math-inl.h"
#include "kern/simd.h"
#include "kern/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

// Parts of fill_attention; attention_bf16.cpp falls back on them.
std::size_t float_attention_scratch(std::size_t d_k, std::size_t d_v);
void attention(const Attention& a, float* out, std::size_t out_stride, float* lse, float* scratch);
void attention_weights(const Attention& a, const float* lse, float* weights, float* scratch);
void attention_backward(const Attention& a, const AttentionGradient& g, float* scratch);
void fill_cached_attention(Kernels& k);

constexpr std::size_t kQueries = queries_of_tile, kKeys = 128;  // 32 KiB of scores, beside 32 KiB of keys at d_k 64
constexpr float kInfinity = __builtin_huge_valf();

HWY_INLINE std::size_t round_up(std::size_t n) {
  const std::size_t lanes = hn::Lanes(Floats());
  return (n + lanes - 1) / lanes * lanes;
}

/// Scratch cut into buffers that start on cache lines.
class Buffers {
 public:
  explicit Buffers(float* scratch) : next_(scratch) { align(); }
  float* take(std::size_t n) {
    float* p = next_;
    next_ += n;
    align();
    return p;
  }
  /// The floats that a buffer of n floats may take.
  static constexpr std::size_t need(std::size_t n) { return n + 32; }

 private:
  void align() {
    next_ = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(next_) + 63) & ~std::uintptr_t{63});
  }
  float* next_;
};

/// Reduces the lanes of each of a, b, c, d with op: four results, by joining pairs while interleaving.
template <class Op>
HWY_INLINE hn::Vec<hn::Full128<float>> reduce4(Vec a, Vec b, Vec c, Vec d, const Op& op) {
  const Floats df;
  const hn::Repartition<double, Floats> dd;
  const Vec ab = op(df, hn::InterleaveLower(df, a, b), hn::InterleaveUpper(df, a, b));
  const Vec cd = op(df, hn::InterleaveLower(df, c, d), hn::InterleaveUpper(df, c, d));
  const auto ab2 = hn::BitCast(dd, ab), cd2 = hn::BitCast(dd, cd);
  const Vec abcd =
      op(df, hn::BitCast(df, hn::InterleaveLower(dd, ab2, cd2)), hn::BitCast(df, hn::InterleaveUpper(dd, ab2, cd2)));
#if HWY_CAP_GE512
  const hn::Half<Floats> dh;
  const auto half = op(dh, hn::LowerHalf(dh, abcd), hn::UpperHalf(dh, abcd));
  const hn::Half<hn::Half<Floats>> dq;
  return op(dq, hn::LowerHalf(dq, half), hn::UpperHalf(dq, half));
#elif HWY_CAP_GE256
  const hn::Half<Floats> dh;
  return op(dh, hn::LowerHalf(dh, abcd), hn::UpperHalf(dh, abcd));
#else
  return abcd;
#endif
}

struct AddLanes {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Add(a, b);
  }
};
struct LargerLanes {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return LargerOf(a, b);
  }
};

/// Contiguous rows.
struct RowsInOrder {
  const float* first;
  std::size_t stride;
  HWY_INLINE const float* operator()(std::size_t j) const { return first + j * stride; }
};

/// y[c * y_stride + r] = row(r)[c] for r < rows, c < cols; the rest of each row of y, of length y_stride, is zero.
template <class RowAt>
HWY_INLINE void pack_transposed(const RowAt& row, std::size_t rows, std::size_t cols, float* HWY_RESTRICT y,
                                std::size_t y_stride) {
  const hn::Full128<float> d;
  const hn::Full128<double> dd;
  std::size_t r = 0;
  for (; r < rows; r += 4) {
    const float *x0 = row(r), *x1 = r + 1 < rows ? row(r + 1) : x0, *x2 = r + 2 < rows ? row(r + 2) : x0,
                *x3 = r + 3 < rows ? row(r + 3) : x0;  // rows beyond the last repeat; zeroed below
    const auto keep = hn::FirstN(d, smaller(rows - r, 4));
    const auto put = [&](std::size_t c, auto v)
                         HWY_ATTR { hn::StoreU(hn::IfThenElseZero(keep, v), d, y + c * y_stride + r); };
    std::size_t c = 0;
    for (; c + 4 <= cols; c += 4) {
      const auto v0 = hn::LoadU(d, x0 + c), v1 = hn::LoadU(d, x1 + c), v2 = hn::LoadU(d, x2 + c),
                 v3 = hn::LoadU(d, x3 + c);
      const auto low01 = hn::BitCast(dd, hn::InterleaveLower(d, v0, v1)),
                 low23 = hn::BitCast(dd, hn::InterleaveLower(d, v2, v3));
      const auto up01 = hn::BitCast(dd, hn::InterleaveUpper(d, v0, v1)),
                 up23 = hn::BitCast(dd, hn::InterleaveUpper(d, v2, v3));
      put(c, hn::BitCast(d, hn::InterleaveLower(dd, low01, low23)));
      put(c + 1, hn::BitCast(d, hn::InterleaveUpper(dd, low01, low23)));
      put(c + 2, hn::BitCast(d, hn::InterleaveLower(dd, up01, up23)));
      put(c + 3, hn::BitCast(d, hn::InterleaveUpper(dd, up01, up23)));
    }
    for (; c < cols; ++c) {
      float* to = y + c * y_stride + r;
      const float* from[4] = {x0, x1, x2, x3};
      for (std::size_t i = 0; i < 4; ++i) to[i] = r + i < rows ? from[i][c] : 0.0f;
    }
  }
  for (; r < y_stride; r += 4) {
    for (std::size_t c = 0; c < cols; ++c) hn::StoreU(hn::Zero(d), d, y + c * y_stride + r);
  }
}

HWY_INLINE void pack_transposed(const float* x, std::size_t x_stride, std::size_t rows, std::size_t cols,
                                float* HWY_RESTRICT y, std::size_t y_stride) {
  pack_transposed(RowsInOrder{x, x_stride}, rows, cols, y, y_stride);
}

/// The keys that a query sees: [begin, end), and if allow is not null only those with allow[key].
struct Visible {
  std::size_t begin, end;
  const std::uint8_t* allow;
  bool even;  ///< it sees no key, and masked scores are -1e9: all scores are equal, whatever q and k
};

inline Visible visible_keys(const Attention& a, std::size_t row, std::size_t head, std::size_t query) {
  const RowSpan& span = a.rows[row];
  const std::size_t k_len = as_size(span.k_len);
  Visible v{0, k_len, nullptr, false};
  if (a.mask == MaskKind::causal) {
    const std::ptrdiff_t end = static_cast<std::ptrdiff_t>(query) + 1 + span.k_len - span.q_len;
    v.end = end > 0 ? smaller(as_size(end), k_len) : 0;
    if (a.window > 0 && end > a.window) v.begin = smaller(as_size(end - a.window), v.end);
  } else if (a.mask == MaskKind::near) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(query) + span.k_len - span.q_len;
    const std::ptrdiff_t begin = at - a.window, end = at + a.window + 1;
    v.end = end > 0 ? smaller(as_size(end), k_len) : 0;
    v.begin = begin > 0 ? smaller(as_size(begin), v.end) : 0;
  } else if (a.mask == MaskKind::explicit01) {
    v.allow = a.allow + row * a.allow_row_stride + head * a.allow_head_stride + query * a.allow_query_stride;
    while (v.end > 0 && !v.allow[v.end - 1]) --v.end;
    while (v.begin < v.end && !v.allow[v.begin]) ++v.begin;
  }
  if (v.begin == v.end) {
    v.even = a.masked_is_minus_1e9 && k_len > 0;
    v = v.even ? Visible{0, k_len, nullptr, true} : Visible{0, 0, nullptr, false};
  }
  return v;
}

/// Up to kQueries neighbouring queries of one row and head, and the keys that they see.
struct QueryBlock {
  std::size_t row, head, first, count;  ///< queries [first, first + count) of the row
  std::size_t begin, end;               ///< the range of keys that any of them sees; empty if begin == end
  Visible visible[kQueries];

  QueryBlock(const Attention& a, std::size_t row_, std::size_t head_, std::size_t first_)
      : row(row_), head(head_), first(first_) {
    count = smaller(kQueries, as_size(a.rows[row].q_len) - first);
    begin = end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Visible& v = visible[i] = visible_keys(a, row, head, first + i);
      if (v.begin == v.end) continue;
      begin = begin == end ? v.begin : smaller(begin, v.begin);
      end = larger(end, v.end);
    }
  }
};

/// The position of a row's query among its keys.
HWY_INLINE std::ptrdiff_t position_of(const Attention& a, std::size_t row, std::size_t query) {
  return static_cast<std::ptrdiff_t>(query) + a.rows[row].k_len - a.rows[row].q_len;
}

/// s[j] += from[j] for j < n: the biases of one query and consecutive keys
HWY_INLINE void add_bias(const float* HWY_RESTRICT from, std::size_t n, float* HWY_RESTRICT s) {
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Add(io.load(s + j), io.load(from + j)), s + j); });
}

/// y[j] += lane j of x, for j < n; n is at most the number of lanes
HWY_INLINE void add_part(Vec x, std::size_t n, float* y) {
  const Floats d;
  if (n == hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, y), x), d, y);
  else
    StorePart(hn::Add(LoadPart(d, y, n), x), d, y, n);
}

/// Keys [start, start + cols) of a row; the tile's scores are in rows of `stride` floats.
struct KeyTile {
  std::size_t start, cols, stride;
};

/// The tile of keys from `start`, a multiple of kKeys.
HWY_INLINE KeyTile tile_at(const Attention& a, std::size_t row, std::size_t start) {
  const std::size_t cols = smaller(kKeys, as_size(a.rows[row].k_len) - start);
  return {start, cols, round_up(cols)};
}

/// The biases between query i of the block and the tile's keys.
HWY_INLINE const float* bias_of(const Attention& a, const QueryBlock& b, const KeyTile& t, std::size_t i) {
  return a.bias.at_zero + b.head * a.bias.stride +
         (static_cast<std::ptrdiff_t>(t.start) - position_of(a, b.row, b.first + i));
}

/// The transposed rows of the last tile. They are reused by the heads that share them, and by all query blocks of a
/// short row.
class TransposedTile {
 public:
  explicit TransposedTile(float* buffer) : buffer_(buffer) {}
  /// x: one head of the row's first token; [cols of x, t.stride]
  const float* of(const float* x, std::size_t x_stride, std::size_t cols, const KeyTile& t) {
    const float* from = x + t.start * x_stride;
    if (from != from_ || t.cols != rows_) {
      pack_transposed(from, x_stride, t.cols, cols, buffer_, t.stride);
      from_ = from;
      rows_ = t.cols;
    }
    return buffer_;
  }

 private:
  float* buffer_;
  const float* from_ = nullptr;
  std::size_t rows_ = 0;
};

/// The keys of a query in a tile, counted from the tile's start.
struct TileRange {
  std::size_t begin, end;
  HWY_INLINE TileRange(const Visible& v, const KeyTile& t)
      : begin(v.begin > t.start ? smaller(v.begin - t.start, t.cols) : 0),
        end(v.end > t.start ? smaller(v.end - t.start, t.cols) : 0) {
    if (begin >= end) begin = end = 0;
  }
};

/// The lanes of the vector at j that are in the range.
HWY_INLINE hn::Mask<Floats> in_range(TileRange range, std::size_t j) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto below_end = hn::FirstN(d, range.end > j ? smaller(range.end - j, lanes) : 0);
  return range.begin > j ? hn::AndNot(hn::FirstN(d, smaller(range.begin - j, lanes)), below_end) : below_end;
}

/// Sets the scores of keys that the query does not see to -inf, in the vectors of its range (other vectors are not
/// touched), and returns the largest score of each lane.
HWY_INLINE Vec mask_scores(const Visible& v, const KeyTile& t, TileRange range, float* HWY_RESTRICT s) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec lowest = hn::Set(d, -kInfinity);
  if (v.even) {
    for (std::size_t j = range.begin; j < range.end; ++j) s[j] = 0;
  } else if (v.allow) {
    for (std::size_t j = range.begin; j < range.end; ++j) s[j] = v.allow[t.start + j] ? s[j] : -kInfinity;
  }
  Vec highest = lowest;
  for (std::size_t j = range.begin / lanes * lanes; j < range.end; j += lanes) {
    Vec x = hn::Load(d, s + j);
    if (j < range.begin || j + lanes > range.end) {
      x = hn::IfThenElse(in_range(range, j), x, lowest);
      hn::Store(x, d, s + j);
    }
    highest = LargerOf(highest, x);
  }
  return highest;
}

/// The dropout of the weights of one row and head.
struct WeightDropout {
  RandomKey key;
  std::uint32_t threshold = 0;
  float keep_scale = 1;
  std::uint32_t k_len = 0;

  WeightDropout(const Attention& a, std::size_t row, std::size_t head) {
    if (a.dropout.p <= 0) return;
    key = sub_key(a.dropout.key, row * a.heads + head);
    threshold = dropout_threshold(a.dropout.p);
    keep_scale = 1.0f / (1.0f - a.dropout.p);
    k_len = static_cast<std::uint32_t>(a.rows[row].k_len);
  }
  bool drops() const { return threshold != 0; }
  /// x scaled if kept, zero if dropped; x holds the weights of `query` and keys j, j + 1, ...
  HWY_INLINE Vec apply(Vec x, std::size_t query, std::size_t j) const {
    const Floats d;
    const auto kept =
        Kept(d, key, threshold, static_cast<std::uint32_t>(query) * k_len + static_cast<std::uint32_t>(j));
    return hn::IfThenElseZero(kept, hn::Mul(x, hn::Set(d, keep_scale)));
  }
};

/// Pointers to the first token's values of one row and head.
struct HeadOf {
  const float *q, *k, *v;
  HeadOf(const Attention& a, std::size_t row, std::size_t head) {
    const RowSpan& span = a.rows[row];
    const std::size_t kv_head = head / (a.heads / a.kv_heads);
    q = a.q + as_size(span.q_begin) * a.q_stride + head * a.d_k;
    k = a.k + as_size(span.k_begin) * a.k_stride + kv_head * a.d_k;
    v = a.v + as_size(span.k_begin) * a.v_stride + kv_head * a.d_v;
  }
};

/// dsink = -sum over queries of exp(sink - lse_i) D_i: the sink's value is zero. lse: of this head, heads apart.
HWY_INLINE void add_sink_gradient(const Attention& a, const AttentionGradient& g, std::size_t head, std::size_t count,
                                  const float* lse, const float* d_of) {
  for (std::size_t i = 0; i < count; ++i)
    if (const float l = lse[i * a.heads]; l > -kInfinity)
      g.d_sinks[head] -= __builtin_expf(a.sink_logits[head] - l) * d_of[i];
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_ATTENTION_TILE_INL_H_
