// Attention over a cache [the decode step of Vaswani et al. 2017, section 3.2.1]: s_j = scale q . k_j + bias of j -
// i, w = softmax(s), y = sum of w_j v_j, head by head. Keys and values are in any slots, as float32 or as 8 bits
// with a scale.
//
// A few queries, or those of generated tokens, are computed one by one, each with all its scores at once: dot products
// with whole keys need no transposed copy. More queries (a chunk of a prompt) go through the cache tile by tile with a
// running softmax, as in attention.cpp. Each tile's keys are transposed and its values gathered once for all queries of
// the row and all heads that share them. At most one tile of the cache is copied at a time.
// How a tile is multiplied is a parameter: in float32 here, in bfloat16 in cached_attention_bf16.cpp. Included once for each
// instruction set.
#if defined(TRIL_KERN_CACHED_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_CACHED_ATTENTION_INL_H_
#undef TRIL_KERN_CACHED_ATTENTION_INL_H_
#else
#define TRIL_KERN_CACHED_ATTENTION_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "base/as_size.h"
#include "hwy/highway.h"
#include "kern/attention_rows-inl.h"
#include "kern/attention_tile-inl.h"
#include "kern/largest-inl.h"
#include "kern/math-inl.h"
#include "kern/simd.h"
#include "kern/small_gemm-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

// The most queries of a row that are computed one by one: of any tokens, and of generated ones. So proposed tokens
// (src/decode/batches/speculator.h) have the bits that they have without proposals. A difference in the last bit would
// show, because activations and keys are rounded to 8 bits after it.
constexpr std::size_t kFew = 3, kFewGenerated = 32;

/// The keys or values of one head.
template <class T>
struct RowsInSlots {
  const T* base;
  const std::int32_t* slots;
  std::size_t count, stride, cols;
  HWY_INLINE const T* operator()(std::size_t j) const { return base + as_size(slots[j]) * stride; }
  /// The rows are far apart, and only the list of slots tells where the next ones are.
  HWY_INLINE void ask_for(std::size_t j) const {
    if (j >= count) return;
    const auto* const row = reinterpret_cast<const char*>((*this)(j));
    for (std::size_t i = 0; i < cols * sizeof(T); i += 64) __builtin_prefetch(row + i);
  }
};

/// The keys that a query sees: [0, sinks) and [begin, end), sinks <= begin.
struct Sight {
  std::size_t sinks, begin, end;
  std::size_t count() const { return sinks + end - begin; }
};

HWY_INLINE Sight sight_of(const CachedAttention& a, std::size_t end) {
  const std::size_t window = as_size(a.window), sinks = as_size(a.sinks);
  if (window == 0 || end <= window + sinks) return {0, 0, end};
  return {sinks, end - window, end};
}

HWY_INLINE std::size_t queries_of(const CachedAttention& a, std::size_t row) {
  return a.queries ? as_size(a.queries[row]) : 1;
}

/// Whether the queries of this row are computed one by one.
HWY_INLINE bool are_few(const CachedAttention& a, std::size_t row) {
  return queries_of(a, row) <= (a.generated && a.generated[row] ? kFewGenerated : kFew);
}

/// An upper bound of the keys that a query of this row sees.
HWY_INLINE std::size_t most_keys(const CachedAttention& a, std::size_t row) {
  const std::size_t n = as_size(a.lengths[row]);
  const std::size_t kept = as_size(a.window) + as_size(a.sinks);
  return a.window == 0 ? n : smaller(n, kept);
}

/// s_i [n] *= the scales of the keys or values in slots[0], slots[1], ... for i < count; `list` [n] is scratch
HWY_INLINE void times_scales(float* HWY_RESTRICT s, std::size_t count, const float* scales, const std::int32_t* slots,
                             std::size_t stride, std::size_t n, float* HWY_RESTRICT list) {
  for (std::size_t j = 0; j < n; ++j) list[j] = scales[as_size(slots[j]) * stride];
  for (std::size_t i = 0; i < count; ++i, s += n)
    ForEach(n, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Mul(io.load(s + j), io.load(list + j)), s + j); });
}

/// The biases of head h between a query at position `query` and the row's keys.
HWY_INLINE const float* bias_of(const CachedAttention& a, std::size_t h, std::size_t query) {
  return a.bias.at_zero + h * a.bias.stride - static_cast<std::ptrdiff_t>(query);
}

/// The logit of head h's sink; -inf: it has none.
HWY_INLINE float sink_of(const CachedAttention& a, std::size_t h) {
  return a.sink_logits ? a.sink_logits[h] : -kInfinity;
}

/// Calls f(std::integral_constant<count>, h) for heads h, h + 1, ...: `count` heads that share keys at a time.
template <class F>
HWY_INLINE void for_shared_heads(std::size_t heads, std::size_t group, const F& f) {
  for (std::size_t h = 0; h < heads;) {
    const std::size_t alike = group - h % group;
    if (alike >= kMostShared) {
      f(std::integral_constant<std::size_t, kMostShared>(), h);
      h += kMostShared;
    } else if (alike >= 2) {
      f(std::integral_constant<std::size_t, 2>(), h);
      h += 2;
    } else {
      f(std::integral_constant<std::size_t, 1>(), h);
      h += 1;
    }
  }
}

/// The keys that all heads read before the next ones. Their values lie side by side, so lines that one head fetches are still in a
/// cache when another head needs them.
constexpr std::size_t kKeysAtOnce = 64;

/// One query of a row, at the position before sight.end; it sees the keys in slots[0], slots[1], ... Size of
/// `scores`: this number of keys times the heads, plus once this number for the scales of 8 bits, plus the heads
template <class T>
void attend_one(const CachedAttention& a, const T* keys, const T* values, const float* q, const std::int32_t* slots,
                const Sight& sight, float* y, float* scores) {
  const std::size_t group = a.heads / a.kv_heads, n = sight.count();
  if (n == 0) {
    for (std::size_t c = 0; c < a.heads * a.d_v; ++c) y[c] = 0;
    return;
  }
  float *const list = scores + a.heads * n, *const factors = list + n;
  const auto keys_from = [&](std::size_t h, std::size_t j) HWY_ATTR {
    return RowsInSlots<T>{keys + h / group * a.d_k, slots + j, n - j, a.k_stride, a.d_k};
  };
  const auto values_from = [&](std::size_t h, std::size_t j) HWY_ATTR {
    return RowsInSlots<T>{values + h / group * a.d_v, slots + j, n - j, a.v_stride, a.d_v};
  };
  const auto ask_for_first = [&](const auto& rows_from) HWY_ATTR {
    for (std::size_t h = 0; h < a.heads; h += group)
      for (std::size_t j = 0; j < smaller(n, kAhead); ++j) rows_from(h, 0).ask_for(j);
  };
  // Each stage runs for all heads before the next: heads are independent, so their latencies overlap.
  ask_for_first(keys_from);
  for (std::size_t j = 0; j < n; j += kKeysAtOnce)
    for_shared_heads(a.heads, group, [&](auto shared, std::size_t h) HWY_ATTR {
      dot_rows<shared>(q + h * a.d_k, a.d_k, keys_from(h, j), smaller(kKeysAtOnce, n - j), a.scale, scores + h * n + j,
                       n);
    });
  if (a.k_scales)
    for (std::size_t h = 0; h < a.heads; h += group)
      times_scales(scores + h * n, group, a.k_scales + h / group, slots, a.scale_stride, n, list);
  for (std::size_t h = 0; h < a.heads; ++h) {
    if (a.softcap > 0) cap_scores(a.softcap, n, scores + h * n);
    if (a.bias) {
      const float* const bias = bias_of(a, h, sight.end - 1);
      add_bias(bias, sight.sinks, scores + h * n);
      add_bias(bias + sight.begin, sight.end - sight.begin, scores + h * n + sight.sinks);
    }
  }
  ask_for_first(values_from);
  for (std::size_t h = 0; h < a.heads; ++h) factors[h] = exponentiate(scores + h * n, n, sink_of(a, h));
  if (a.v_scales)
    for (std::size_t h = 0; h < a.heads; h += group)
      times_scales(scores + h * n, group, a.v_scales + h / group, slots, a.scale_stride, n, list);
  for (std::size_t j = 0; j < n; j += kKeysAtOnce)
    for_shared_heads(a.heads, group, [&](auto shared, std::size_t h) HWY_ATTR {
      weighted_sums<shared>({.weights = scores + h * n + j,
                             .stride = n,
                             .n = smaller(kKeysAtOnce, n - j),
                             .scales = factors + h,
                             .y = y + h * a.d_v,
                             .cols = a.d_v,
                             .adds = j > 0},
                            values_from(h, j));
    });
}

template <class T>
void attend_one_by_one(const CachedAttention& a, const T* keys, const T* values, std::size_t row, const float* q,
                       float* out, std::size_t out_stride, float* scratch) {
  const std::size_t count = queries_of(a, row), length = as_size(a.lengths[row]);
  const std::size_t before = length > count ? length - count : 0;  // a row without keys still has one query
  for (std::size_t i = 0; i < count; ++i) {
    const Sight sight = sight_of(a, smaller(length, before + i + 1));
    const std::int32_t* slots = a.slots[row] + sight.begin;
    float* scores = scratch;
    if (sight.sinks > 0 && sight.begin > sight.sinks) {  // not contiguous in the list: copy them to one
      auto* both = reinterpret_cast<std::int32_t*>(scratch);
      for (std::size_t j = 0; j < sight.sinks; ++j) both[j] = a.slots[row][j];
      for (std::size_t j = sight.begin; j < sight.end; ++j) both[sight.sinks + j - sight.begin] = a.slots[row][j];
      slots = both;
      scores += sight.count();
    } else if (sight.sinks > 0) {
      slots = a.slots[row];
    }
    attend_one(a, keys, values, q + i * a.q_stride, slots, sight, out + i * out_stride, scores);
  }
}

/// Copies one head's key or value as floats; 8-bit values are multiplied by their scale.
HWY_INLINE void copy_floats(const float* from, float, std::size_t n, float* HWY_RESTRICT to) {
  ForEach(n, [&](std::size_t c, auto io) HWY_ATTR { io.store(io.load(from + c), to + c); });
}
HWY_INLINE void copy_floats(const std::int8_t* from, float scale, std::size_t n, float* HWY_RESTRICT to) {
  const std::size_t lanes = hn::Lanes(Floats());
  const Vec s = hn::Set(Floats(), scale);
  std::size_t c = 0;
  for (; c + lanes <= n; c += lanes) hn::StoreU(hn::Mul(load_floats(from + c), s), Floats(), to + c);
  if (c < n) StorePart(hn::Mul(load_floats(from + c, n - c), s), Floats(), to + c, n - c);
}

/// The first lanes of a vector from j on, of n.
HWY_INLINE auto FirstOf(std::size_t n, std::size_t j) {
  const Floats d;
  return hn::FirstN(d, n > j ? smaller(n - j, hn::Lanes(d)) : 0);
}

/// The keys of a tile that a query sees, as masks of vectors.
class SeenInTile {
 public:
  HWY_INLINE SeenInTile(const Sight& sight, std::size_t start, std::size_t cols) {
    const auto in_tile = [&](std::size_t key) { return key > start ? smaller(key - start, cols) : 0; };
    sinks_ = in_tile(sight.sinks), begin_ = in_tile(sight.begin), end_ = in_tile(sight.end);
  }
  /// Whether it sees all of n keys.
  HWY_INLINE bool all(std::size_t n) const { return begin_ == 0 && end_ == n; }
  HWY_INLINE auto at(std::size_t j) const {
    return hn::Or(FirstOf(sinks_, j), hn::AndNot(FirstOf(begin_, j), FirstOf(end_, j)));
  }

 private:
  std::size_t sinks_, begin_, end_;
};

/// s = exp(s - m), m the largest of s [n] and of `highest`, which becomes m; returns the sum.
HWY_INLINE float weights_of_scores(std::size_t n, float* HWY_RESTRICT s, float& highest) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec most = hn::Set(d, highest);
  for (std::size_t j = 0; j < n; j += lanes) most = LargerOf(most, hn::LoadU(d, s + j));
  highest = hn::GetLane(hn::MaxOfLanes(d, most));
  const Vec shift = hn::Set(d, highest == -kInfinity ? 0.0f : highest);
  Vec sum = hn::Zero(d);
  for (std::size_t j = 0; j < n; j += lanes) {
    const Vec e = FastExp(d, hn::Sub(hn::LoadU(d, s + j), shift));
    hn::StoreU(e, d, s + j);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Scores of the tile's keys [0, cols) for a query whose largest score so far is `highest`: keys out of sight become
/// -inf. Then s = exp(s - m'), and zeros up to `stride`. Returns the sum, and the new maximum through `highest`.
HWY_INLINE float softmax_of_tile(const Sight& sight, std::size_t start, std::size_t cols, std::size_t stride,
                                 float* HWY_RESTRICT s, float& highest) {
  const Floats d;
  const SeenInTile seen(sight, start, cols);
  if (!seen.all(stride))
    for (std::size_t j = 0; j < stride; j += hn::Lanes(d))
      hn::StoreU(hn::IfThenElse(seen.at(j), hn::LoadU(d, s + j), hn::Set(d, -kInfinity)), d, s + j);
  return weights_of_scores(stride, s, highest);
}

/// The scratch for the tiles of one row.
struct TileWork {
  float *keys, *values, *scores, *highest, *sum;
  float* products;  ///< of the way to multiply

  TileWork(const CachedAttention& a, std::size_t queries, float* scratch) {
    Buffers buffers(scratch);
    keys = buffers.take(kKeys * a.d_k), values = buffers.take(kKeys * a.d_v);
    scores = buffers.take(kQueries * kKeys);
    highest = buffers.take(queries * a.heads), sum = buffers.take(queries * a.heads);
    products = buffers.take(0);
  }
  static std::size_t need(const CachedAttention& a, std::size_t queries) {
    return Buffers::need(kKeys * a.d_k) + Buffers::need(kKeys * a.d_v) + Buffers::need(kQueries * kKeys) +
           2 * Buffers::need(queries * a.heads) + Buffers::need(0) + 32;
  }
};

/// The contribution of a tile to head h of the queries [first, first + count): m, l and O of attention.cpp.
template <class Products>
void attend_tile(const CachedAttention& a, std::size_t before, std::size_t head, std::size_t first, std::size_t count,
                 std::size_t start, std::size_t cols, const TileWork& w, const Products& products, const float* q,
                 float* out, std::size_t out_stride) {
  const std::size_t stride = Products::stride(cols);
  products.scores(q + first * a.q_stride + head * a.d_k, count, cols, w.scores);
  for (std::size_t i = 0; i < count && a.softcap > 0; ++i) cap_scores(a.softcap, cols, w.scores + i * stride);
  for (std::size_t i = 0; i < count && a.bias; ++i)
    add_bias(bias_of(a, head, before + first + i) + start, cols, w.scores + i * stride);
  float* y = out + first * out_stride + head * a.d_v;
  for (std::size_t i = 0; i < count; ++i) {
    float &highest = w.highest[(first + i) * a.heads + head], &sum = w.sum[(first + i) * a.heads + head];
    const float past = highest;
    const float added =
        softmax_of_tile(sight_of(a, before + first + i + 1), start, cols, stride, w.scores + i * stride, highest);
    const float carry = past == highest ? 1.0f : past == -kInfinity ? 0.0f : __builtin_expf(past - highest);
    sum = sum * carry + added;
    if (carry == 1) continue;
    ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR {
      io.store(hn::Mul(hn::Set(Floats(), carry), io.load(y + i * out_stride + c)), y + i * out_stride + c);
    });
  }
  products.add_values(w.scores, count, cols, y, out_stride);
}

template <class Products, class T>
void attend_by_tiles(const CachedAttention& a, const T* keys, const T* values, std::size_t row, const float* q,
                     float* out, std::size_t out_stride, float* scratch) {
  const std::size_t count = queries_of(a, row), length = as_size(a.lengths[row]), before = length - count,
                    group = a.heads / a.kv_heads;
  const TileWork w(a, count, scratch);
  Products products(a, w);
  for (std::size_t i = 0; i < count * a.heads; ++i) w.highest[i] = -kInfinity, w.sum[i] = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ForEach(a.heads * a.d_v,
            [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Zero(Floats()), out + i * out_stride + c); });
  }
  for (std::size_t start = 0; start < length; start += kKeys) {
    const std::size_t cols = smaller(kKeys, length - start);
    // Skips blocks of queries that see nothing of the tile: those that end before it and those whose window
    // begins after it.
    const auto sees = [&](std::size_t first, std::size_t n) {
      const Sight earliest = sight_of(a, before + first + 1);
      return before + first + n > start && (earliest.begin < start + cols || start < earliest.sinks);
    };
    bool any = false;
    for (std::size_t first = 0; first < count; first += kQueries) any |= sees(first, smaller(kQueries, count - first));
    if (!any) continue;
    const std::int32_t* slots = a.slots[row] + start;
    for (std::size_t kv = 0; kv < a.kv_heads; ++kv) {
      for (std::size_t j = 0; j < cols; ++j) {
        const std::size_t slot = as_size(slots[j]);
        const auto scale = [&](const float* of) { return of ? of[slot * a.scale_stride + kv] : 1.0f; };
        copy_floats(keys + slot * a.k_stride + kv * a.d_k, scale(a.k_scales), a.d_k, w.keys + j * a.d_k);
        copy_floats(values + slot * a.v_stride + kv * a.d_v, scale(a.v_scales), a.d_v, w.values + j * a.d_v);
      }
      products.take_tile(cols);
      for (std::size_t first = 0; first < count; first += kQueries) {
        const std::size_t n = smaller(kQueries, count - first);
        if (!sees(first, n)) continue;
        for (std::size_t h = kv * group; h < (kv + 1) * group; ++h)
          attend_tile(a, before, h, first, n, start, cols, w, products, q, out, out_stride);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t h = 0; h < a.heads; ++h) {
      float sum = w.sum[i * a.heads + h];
      if (a.sink_logits) sum += __builtin_expf(a.sink_logits[h] - w.highest[i * a.heads + h]);
      const Vec inverse = hn::Set(Floats(), 1.0f / sum);
      float* y = out + i * out_stride + h * a.d_v;
      ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Mul(inverse, io.load(y + c)), y + c); });
    }
  }
}

template <class Products, class T>
void attend_rows(const CachedAttention& a, const T* keys, const T* values, float* out, std::size_t out_stride,
                 float* scratch) {
  const float* q = a.q;
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t count = queries_of(a, row);
    if (are_few(a, row))
      attend_one_by_one(a, keys, values, row, q, out, out_stride, scratch);
    else
      attend_by_tiles<Products>(a, keys, values, row, q, out, out_stride, scratch);
    q += count * a.q_stride;
    out += count * out_stride;
  }
}

template <class Products>
std::size_t scratch_of_rows(const CachedAttention& a) {
  std::size_t most = 0;
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t count = queries_of(a, row);
    most = larger(most, are_few(a, row) ? (a.heads + 2) * most_keys(a, row) + a.heads
                                        : TileWork::need(a, count) + Products::need(a));
  }
  return most;
}

template <class Products>
void attend_all(const CachedAttention& a, float* out, std::size_t out_stride, float* scratch) {
  if (a.k8)
    attend_rows<Products>(a, a.k8, a.v8, out, out_stride, scratch);
  else
    attend_rows<Products>(a, a.k, a.v, out, out_stride, scratch);
}

/// The products of a tile in float32: S = scale Q K^T and O += P V.
class FloatProducts {
 public:
  FloatProducts(const CachedAttention& a, const TileWork& w) : a_(&a), w_(&w), keys_(w.products) {}
  static std::size_t need(const CachedAttention& a) { return Buffers::need(kKeys * a.d_k); }
  /// Of a row of scores.
  static std::size_t stride(std::size_t cols) { return round_up(cols); }

  /// Takes the keys and values of TileWork.
  void take_tile(std::size_t cols) { pack_transposed(w_->keys, a_->d_k, cols, a_->d_k, keys_, stride(cols)); }
  /// @param q  [count, d_k], in rows of q_stride. @param s  [count, stride(cols)]
  void scores(const float* q, std::size_t count, std::size_t cols, float* s) const {
    SmallGemm g{.m = count, .n = stride(cols), .k = a_->d_k, .a = q, .a_row = a_->q_stride};
    g.b = keys_;
    g.b_stride = g.c_stride = stride(cols);
    g.c = s;
    g.scale = a_->scale;
    small_gemm(g);
  }
  /// @param p  [count, stride(cols)], zero from `cols` on. @param y  [count, d_v]
  void add_values(const float* p, std::size_t count, std::size_t cols, float* y, std::size_t y_stride) const {
    SmallGemm g{.m = count, .n = a_->d_v, .k = cols, .a = p, .a_row = stride(cols)};
    g.b = w_->values;
    g.b_stride = a_->d_v;
    g.c = y;
    g.c_stride = y_stride;
    g.accumulate = true;
    small_gemm(g);
  }

 private:
  const CachedAttention* a_;
  const TileWork* w_;
  float* keys_;
};

}  // namespace
}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_CACHED_ATTENTION_INL_H_
