// Each 32 x 32 block of the product is used while it is in the first-level cache and then dropped: a row's logits
// are compared with the k-th best so far, which few exceed, and their exponentials are added up.
#include "kern/quantized_top_k.h"

#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/quantized_top_k.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/gemm_int8-inl.h"
#include "kern/top_k-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

// The state of a row: the k best as a heap in the output, and the sum of exp(logit - shift).
struct RowBest {
  float beaten;      // only larger values are considered
  float shift;       // at most kHeadroom below the largest logit so far; -inf: there is none
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

  /// @param at  an IntBlock or a FloatBlock
  template <class Block>
  HWY_INLINE void take(const Block& at) {
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

  // Row i of the product plus the bias, from column j of the block on.
  HWY_INLINE Vec logits_of(const IntBlock& at, std::size_t i, std::size_t j, Vec bias) const {
    const Floats d;
    const Vec sum = hn::ConvertTo(d, hn::Load(Ints(), at.sums + i * 32 + j));
    return hn::MulAdd(hn::Mul(sum, hn::LoadU(d, t_.b.scales + at.col + j)), hn::Set(d, at.row_scales[i]), bias);
  }
  HWY_INLINE Vec logits_of(const FloatBlock& at, std::size_t i, std::size_t j, Vec bias) const {
    return hn::Add(hn::LoadU(Floats(), at.sums + i * 32 + j), bias);
  }

  template <bool kSums, bool kWhole, class Block>
  HWY_INLINE void take_as(const Block& at) {
    const Floats d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < at.rows; ++i) {
      const std::size_t row = at.row - first_ + i;
      RowBest& best = rows_[row];
      const Vec beaten = hn::Set(d, best.beaten);
      Vec logits[kVecs];
      bool all_beaten = true;
      for (std::size_t v = 0; v < kVecs; ++v) {
        const std::size_t j = v * lanes, n = kWhole ? 32 : at.cols > j ? at.cols - j : 0;
        Vec bias = hn::Zero(d);
        if (t_.bias && n > 0)
          bias = n >= lanes ? hn::LoadU(d, t_.bias + at.col + j) : LoadPart(d, t_.bias + at.col + j, n);
        Vec y = logits_of(at, i, j, bias);
        if (n < lanes) y = hn::IfThenElse(hn::FirstN(d, n), y, hn::Set(d, -HUGE_VALF));
        logits[v] = y;
        all_beaten &= hn::AllTrue(d, hn::Le(y, beaten));  // false for NaN
      }
      if (HWY_UNLIKELY(!all_beaten)) {
        offer(at.row + i, best, logits, at.col, at.cols);
        // Logits that are not above the k-th best are at most the largest so far, so their exponentials fit.
        if constexpr (kSums) make_fit(row, best, logits);
      }
      if constexpr (kSums) {
        const Vec shift = hn::Set(d, best.shift > -HUGE_VALF ? -log2_e * best.shift : 0.0f);
        Vec sum = hn::Load(d, sums_ + 16 * row);
        for (std::size_t v = 0; v < kVecs; ++v)
          sum = hn::Add(sum, FastExp2(d, hn::MulAdd(logits[v], hn::Set(d, log2_e), shift)));
        hn::Store(sum, d, sums_ + 16 * row);
      }
    }
  }

  // If the largest of the new logits would exceed the headroom, it becomes the new shift.
  HWY_NOINLINE void make_fit(std::size_t row, RowBest& best, const Vec* logits) {
    const Floats d;
    bool fits = true;
    for (std::size_t v = 0; v < kVecs; ++v)
      fits &= hn::AllTrue(d, hn::Le(logits[v], hn::Set(d, best.shift + kHeadroom)));
    if (fits) return;
    Vec most = hn::Set(d, -HUGE_VALF);
    for (std::size_t v = 0; v < kVecs; ++v) most = LargerOf(logits[v], most);  // this order of max skips NaN
    const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
    if (!(largest > best.shift)) return;
    const float factor = best.shift == -HUGE_VALF ? 1.0f : expf(best.shift - largest);  // the sums are zero or NaN
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
        const auto lane = as_size(__builtin_ctz(bits));
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
    const float* const a = t.a + first * t.a_stride;
    const auto take = [&](auto at) HWY_ATTR {
      at.row += first;
      best.take(at);
    };
    if (t.b.format == BlockFormat::none)
      SweepInt8<Isa>(t.b, a, t.a_stride, rows, t.scratch, take);
    else
      SweepBlocks(Isa::blocks, t.b, {.m = rows, .x = a, .stride = t.a_stride}, t.scratch, take);
    best.finish(rows);
  }
}

}  // namespace

void fill_quantized_top_k(Kernels& k) {
  k.quantized_top_k = top_k<PairedProducts>;
}

#if TRIL_FOUR_PRODUCTS
void fill_quantized_top_k_fours(Kernels& k) {
  k.quantized_top_k = top_k<FourProducts>;
}
#endif
#if TRIL_ARM_PRODUCTS
void fill_quantized_top_k_blocks(Kernels& k) {
  k.quantized_top_k = top_k<BlockProducts>;
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_quantized_top_k_tiles(Kernels& k) {
  k.quantized_top_k = top_k<FourTiles>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
