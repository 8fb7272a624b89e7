// C = A W^T of integers. Up to 256 rows of A are rounded to 8 bits, in the second cache at most; the panels of W pass by
// them once, and each 32 x 32 block of C is scaled and finished while it is in the first:
//   for rows of A: round A; for panels of W: for 32 rows: block = A_block W_panel; scale, bias, activation, residual
#include "kern/gemm_int8.h"

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/gemm_int8.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/activation-inl.h"
#include "kern/fill-inl.h"
#include "kern/gemm_int8-inl.h"
#include "kern/top_k-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void quantize_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t k, std::int8_t* q, float* scales) {
  for (std::size_t i = 0; i < rows; ++i) scales[i] = QuantizeRow(x + i * stride, k, q + i * int8_depth(k));
}

void pack_quantized(const PackQuantized& p) {
  const std::size_t deep = int8_depth(p.k) / int8_tile_depth, groups = (p.k + int4_group - 1) / int4_group;
  const std::size_t row_bytes = p.row_bytes;
  const auto value = [&](std::size_t j, std::size_t i) -> std::uint8_t {  // as it is stored; four bits of zero are 8
    if (p.bits == 8) return j < p.n && i < p.k ? p.rows[j * row_bytes + i] : 0;
    if (j >= p.n || i >= p.k) return 8;
    const std::uint8_t both = p.rows[j * row_bytes + i / 2];
    return i % 2 ? both >> 4 : both & 15;
  };
  const auto multiplier = [&](std::size_t j, std::size_t g) -> std::uint8_t {
    return j < p.n && g < groups ? p.row_multipliers[j * groups + g] & 15 : 0;
  };
  std::uint8_t* to = p.values;
  std::uint8_t* to_multipliers = p.multipliers;
  for (std::size_t n0 = 0; n0 < p.n; n0 += 32)
    for (std::size_t l = 0; l < deep; ++l)
      for (std::size_t tile = 0; tile < 2; ++tile) {
        const std::size_t column = n0 + 16 * tile, first = l * int8_tile_depth;
        if (p.bits == 8) {
          for (std::size_t c = 0; c < 16; ++c) {
            const std::size_t j = column + c;
            if (j < p.n && first + int8_tile_depth <= p.k) {
              const std::uint8_t* const from = p.rows + j * row_bytes + first;
              for (std::size_t q = 0; q < 16; ++q) __builtin_memcpy(to + q * 64 + c * 4, from + q * 4, 4);
            } else {
              for (std::size_t i = 0; i < int8_tile_depth; ++i) to[i / 4 * 64 + c * 4 + i % 4] = value(j, first + i);
            }
          }
          to += int8_tile_bytes;
          continue;
        }
        for (std::size_t q = 0; q < 8; ++q)
          for (std::size_t c = 0; c < 16; ++c)
            for (std::size_t i = 0; i < 4; ++i)
              *to++ = static_cast<std::uint8_t>(value(column + c, first + 4 * q + i) |
                                                value(column + c, first + 32 + 4 * q + i) << 4);
        for (std::size_t g = 0; g < 2; ++g)
          for (std::size_t c = 0; c < 16; ++c) *to_multipliers++ = multiplier(column + c, first / int4_group + g);
      }
  for (std::size_t j = 0; j < int8_columns(p.n); ++j) {
    std::int32_t sum = 0;
    if (p.bits == 8 && j < p.n) {
      const auto* const row = reinterpret_cast<const std::int8_t*>(p.rows + j * row_bytes);
      for (std::size_t i = 0; i < p.k; ++i) sum += row[i];
    } else {
      for (std::size_t i = 0; j < p.n && i < p.k; ++i) sum += (value(j, i) - 8) * multiplier(j, i / int4_group);
    }
    p.sums[j] = 128 * sum;
  }
}

// y[i] = scale * row ids[i] of the weight.
void gather_quantized(const QuantizedRight& b, const std::int32_t* ids, float scale, float* y, std::size_t rows) {
  const std::size_t deep = int8_depth(b.k) / int8_tile_depth;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto j = static_cast<std::size_t>(ids[i]);
    const std::size_t tile_bytes = int8_tile_bytes * static_cast<std::size_t>(b.bits) / 8;
    const float factor = scale * b.scales[j];
    for (std::size_t l = 0; l < deep; ++l) {
      const std::size_t tile = (j / 32 * deep + l) * 2 + j % 32 / 16, c = j % 16;
      const std::uint8_t* const from = b.values + tile * tile_bytes + c * 4;
      const std::size_t n = smaller(b.k - l * int8_tile_depth, int8_tile_depth);
      float* const to = y + i * b.k + l * int8_tile_depth;
      for (std::size_t p = 0; p < n; ++p) {
        int q;
        if (b.bits == 8) {
          q = static_cast<std::int8_t>(from[p / 4 * 64 + p % 4]);
        } else {
          const std::uint8_t both = from[p % 32 / 4 * 64 + p % 4];
          q = ((p < 32 ? both & 15 : both >> 4) - 8) * b.multipliers[tile * 32 + p / 32 * 16 + c];
        }
        to[p] = factor * static_cast<float>(q);
      }
    }
  }
}

template <class F>
HWY_INLINE void FinishInt8(const QuantizedGemm& g, const IntBlock& at, F f) {
  constexpr std::size_t kVecs = 32 / hn::MaxLanes(Floats());
  const Floats d;
  const Ints di;
  const std::size_t lanes = hn::Lanes(d), stride = g.c_stride, begin = at.row * stride + at.col;
  float* const c = g.c + begin;
  const float* const residual = g.residual ? g.residual + begin : nullptr;
  const float* const bias_at = g.bias ? g.bias + at.col : nullptr;
  if (at.cols == 32) {  // by rows: two vectors of AVX-512 are neighbours in memory
    Vec scale[kVecs], bias[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v) {
      scale[v] = hn::LoadU(d, g.b.scales + at.col + v * lanes);
      bias[v] = bias_at ? hn::LoadU(d, bias_at + v * lanes) : hn::Zero(d);
    }
    for (std::size_t i = 0; i < at.rows; ++i) {
      const Vec row_scale = hn::Set(d, at.row_scales[i]);
      for (std::size_t v = 0; v < kVecs; ++v) {
        const Vec sum = hn::ConvertTo(d, hn::Load(di, at.sums + i * 32 + v * lanes));
        Vec y = f.value(hn::MulAdd(hn::Mul(sum, scale[v]), row_scale, bias[v]));
        if (residual) y = hn::Add(y, hn::LoadU(d, residual + i * stride + v * lanes));
        hn::StoreU(y, d, c + i * stride + v * lanes);
      }
    }
    return;
  }
  for (std::size_t i = 0; i < at.rows; ++i)
    ForEach(at.cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec sum = hn::ConvertTo(d, hn::Load(di, at.sums + i * 32 + j));
      const Vec bias = bias_at ? io.load(bias_at + j) : hn::Zero(d);
      const Vec scale = hn::LoadU(d, g.b.scales + at.col + j);
      Vec y = f.value(hn::MulAdd(hn::Mul(sum, scale), hn::Set(d, at.row_scales[i]), bias));
      if (residual) y = hn::Add(y, io.load(residual + i * stride + j));
      io.store(y, c + i * stride + j);
    });
}

template <class Isa>
void multiply(const QuantizedGemm& g) {
  if (g.m == 0 || g.b.n == 0) return;
  WithActivation(g.activation, [&](auto f) HWY_ATTR {
    SweepInt8<Isa>(g.b, g.a, g.a_stride, g.m, g.scratch, [&](const IntBlock& at) HWY_ATTR { FinishInt8(g, at, f); });
  });
}

// What is known of a row so far: the k best as a heap in the output, and the sum of exp(logit - shift).
struct RowBest {
  float beaten;      // only what is larger than this is looked at
  float shift;       // never more than kHeadroom below the largest logit so far; -inf: there is none
  std::size_t size;  // of the heap
};
constexpr float kHeadroom = 40;

class TopK {
 public:
  TopK(const QuantizedTopK& t, std::size_t first, std::size_t rows) : t_(t), first_(first) {
    const Floats d;
    for (std::size_t i = 0; i < rows; ++i) {
      rows_[i] = {-HUGE_VALF, -HUGE_VALF, 0};
      hn::Store(hn::Zero(d), d, sums_ + 16 * i);
    }
  }

  HWY_INLINE void take(const IntBlock& at) {
    if (t_.log_sums)
      at.cols == 32 ? take_as<true, true>(at) : take_as<true, false>(at);
    else
      at.cols == 32 ? take_as<false, true>(at) : take_as<false, false>(at);
  }

  void finish(std::size_t rows) {
    const Floats d;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = first_ + i;
      Heap heap = heap_of(row, rows_[i].size);
      if (heap.size < t_.k) heap.build();
      heap.sort();
      for (std::size_t j = rows_[i].size; j < t_.k; ++j)
        t_.values[row * t_.k + j] = -HUGE_VALF, t_.indices[row * t_.k + j] = -1;
      if (!t_.log_sums) continue;
      const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums_ + 16 * i)));
      t_.log_sums[row] = rows_[i].shift > -HUGE_VALF ? rows_[i].shift + logf(sum) : sum - HUGE_VALF;
    }
  }

 private:
  HWY_INLINE Heap heap_of(std::size_t row, std::size_t size) const {
    return {t_.values + row * t_.k, t_.indices + row * t_.k, size};
  }

  static constexpr std::size_t kVecs = 32 / hn::MaxLanes(Floats());

  template <bool kSums, bool kWhole>
  HWY_INLINE void take_as(const IntBlock& at) {
    const Floats d;
    const Ints di;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < at.rows; ++i) {
      const std::size_t row = at.row - first_ + i;
      RowBest& best = rows_[row];
      const Vec row_scale = hn::Set(d, at.row_scales[i]), beaten = hn::Set(d, best.beaten);
      Vec logits[kVecs];
      bool all_beaten = true;
      for (std::size_t v = 0; v < kVecs; ++v) {
        const std::size_t j = v * lanes, n = kWhole ? 32 : at.cols > j ? at.cols - j : 0;
        const Vec sum = hn::ConvertTo(d, hn::Load(di, at.sums + i * 32 + j));
        Vec bias = hn::Zero(d);
        if (t_.bias && n > 0)
          bias = n >= lanes ? hn::LoadU(d, t_.bias + at.col + j) : LoadPart(d, t_.bias + at.col + j, n);
        Vec y = hn::MulAdd(hn::Mul(sum, hn::LoadU(d, t_.b.scales + at.col + j)), row_scale, bias);
        if (n < lanes) y = hn::IfThenElse(hn::FirstN(d, n), y, hn::Set(d, -HUGE_VALF));
        logits[v] = y;
        all_beaten &= hn::AllTrue(d, hn::Le(y, beaten));  // not so where it is NaN
      }
      if (HWY_UNLIKELY(!all_beaten)) {
        offer(at.row + i, best, logits, at.col, at.cols);
        // What is beaten is no more than the largest so far, so that it fits.
        if constexpr (kSums) make_fit(row, best, logits);
      }
      if constexpr (kSums) {
        constexpr float log2_e = 1.44269504f;
        const Vec shift = hn::Set(d, best.shift > -HUGE_VALF ? -log2_e * best.shift : 0.0f);
        Vec sum = hn::Load(d, sums_ + 16 * row);
        for (std::size_t v = 0; v < kVecs; ++v)
          sum = hn::Add(sum, FastExp2(d, hn::MulAdd(logits[v], hn::Set(d, log2_e), shift)));
        hn::Store(sum, d, sums_ + 16 * row);
      }
    }
  }

  // Where the largest of the new logits would leave the headroom, it becomes what is taken off them.
  HWY_NOINLINE void make_fit(std::size_t row, RowBest& best, const Vec* logits) {
    const Floats d;
    bool fits = true;
    for (std::size_t v = 0; v < kVecs; ++v)
      fits &= hn::AllTrue(d, hn::Le(logits[v], hn::Set(d, best.shift + kHeadroom)));
    if (fits) return;
    Vec most = hn::Set(d, -HUGE_VALF);
    for (std::size_t v = 0; v < kVecs; ++v) most = hn::Max(logits[v], most);  // in this order max passes over NaN
    const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
    if (!(largest > best.shift)) return;
    const float factor = best.shift == -HUGE_VALF ? 1.0f : expf(best.shift - largest);  // zeros, or NaN, are there
    best.shift = largest;
    hn::Store(hn::Mul(hn::Load(d, sums_ + 16 * row), hn::Set(d, factor)), d, sums_ + 16 * row);
  }

  HWY_NOINLINE void offer(std::size_t row, RowBest& best, const Vec* logits, std::size_t col, std::size_t cols) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    Heap heap = heap_of(row, best.size);
    for (std::size_t v = 0; v < kVecs && v * lanes < cols; ++v) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Not(hn::Le(logits[v], hn::Set(d, best.beaten))), bytes);
      std::uint32_t bits = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
      if (bits == 0) continue;
      HWY_ALIGN float values[hn::MaxLanes(Floats())];
      hn::Store(logits[v], d, values);
      for (; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<std::size_t>(__builtin_ctz(bits));
        const std::size_t at = v * lanes + lane;
        const float value = values[lane];
        const auto id = t_.first_id + static_cast<std::int32_t>(col + at);
        if (at >= cols || value <= best.beaten || is_forbidden(row, id)) continue;
        if (heap.size == t_.k) {
          heap.offer(value, id);
        } else {
          heap.values[heap.size] = value, heap.indices[heap.size] = id;
          if (++heap.size == t_.k) heap.build();
        }
        if (heap.size == t_.k) best.beaten = heap.values[0];
        if (best.beaten != best.beaten) best.beaten = -HUGE_VALF;  // the worst is NaN: everything is better
      }
    }
    best.size = heap.size;
  }

  HWY_INLINE bool is_forbidden(std::size_t row, std::int32_t id) const {
    if (!t_.forbidden) return false;
    const std::int32_t* const ids = t_.forbidden[row];
    for (std::int32_t i = 0; i < t_.forbidden_counts[row]; ++i)
      if (ids[i] == id) return true;
    return false;
  }

  const QuantizedTopK& t_;
  std::size_t first_;
  RowBest rows_[quantized_gemm_rows];
  HWY_ALIGN float sums_[quantized_gemm_rows * 16];
};

template <class Isa>
void top_k(const QuantizedTopK& t) {
  if (t.k == 0) return;
  for (std::size_t first = 0; first < t.m; first += quantized_gemm_rows) {
    const std::size_t rows = smaller(t.m - first, quantized_gemm_rows);
    TopK best(t, first, rows);
    SweepInt8<Isa>(t.b, t.a + first * t.a_stride, t.a_stride, rows, t.scratch, [&](IntBlock at) HWY_ATTR {
      at.row += first;
      best.take(at);
    });
    best.finish(rows);
  }
}

}  // namespace

void fill_gemm_int8(Kernels& k) {
  k.quantize_rows = quantize_rows;
  k.pack_quantized = pack_quantized;
  k.gather_quantized = gather_quantized;
  k.quantized_gemm = multiply<PairedProducts>;
  k.quantized_top_k = top_k<PairedProducts>;
}

#if HWY_TARGET == HWY_AVX3
void fill_gemm_int8_vnni(Kernels& k) {
  k.quantized_gemm = multiply<FourProducts>;
  k.quantized_top_k = top_k<FourProducts>;
}
void fill_gemm_int8_tiles(Kernels& k) {
  k.quantized_gemm = multiply<FourTiles>;
  k.quantized_top_k = top_k<FourTiles>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cmath>

namespace tril::kern {
namespace {

struct Rounded4 {
  double error;
  int multiplier;
};

// The group's best multiplier of the row's scale among those around the one that its largest value calls for.
Rounded4 best_multiplier(const float* w, std::size_t n, float scale) {
  float most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(w[i]));
  if (most == 0 || scale == 0) return {0, 0};
  const int whole = static_cast<int>(std::ceil(most / (7 * scale)));
  Rounded4 best{INFINITY, 1};
  for (int m = std::max(1, whole - 3); m <= std::min(15, whole); ++m) {
    const float step = static_cast<float>(m) * scale, up = 1 / step;
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float q = std::clamp(std::nearbyint(w[i] * up), -8.0f, 7.0f), e = w[i] - q * step;
      error += static_cast<double>(e) * e;
    }
    if (error < best.error) best = {error, m};
  }
  return best;
}

}  // namespace

void quantize_int4(const float* w, std::size_t stride, std::size_t n, std::size_t k, std::uint8_t* rows,
                   std::uint8_t* multipliers, float* scales) {
  const std::size_t groups = (k + int4_group - 1) / int4_group, row_bytes = (k + 1) / 2;
  for (std::size_t j = 0; j < n; ++j) {
    const float* const row = w + j * stride;
    float most = 0;
    for (std::size_t i = 0; i < k; ++i) most = std::max(most, std::abs(row[i]));
    // The largest value of the row at 7 or -8 steps of the largest multiplier.
    const float scale = scales[j] = most / (7.0f * 15);
    std::fill_n(rows + j * row_bytes, row_bytes, std::uint8_t{0x88});
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = g * int4_group, count = std::min(int4_group, k - first);
      const int m = best_multiplier(row + first, count, scale).multiplier;
      multipliers[j * groups + g] = static_cast<std::uint8_t>(m);
      const float up = m ? 1 / (static_cast<float>(m) * scale) : 0;
      for (std::size_t i = first; i < first + count; ++i) {
        const auto q = static_cast<int>(std::clamp(std::nearbyint(row[i] * up), -8.0f, 7.0f)) + 8;
        std::uint8_t& both = rows[j * row_bytes + i / 2];
        both = static_cast<std::uint8_t>(i % 2 ? (both & 15) | q << 4 : (both & 0xf0) | q);
      }
    }
  }
}

}  // namespace tril::kern
#endif  // HWY_ONCE
