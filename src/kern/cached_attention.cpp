// Attention over a cache in float32 (cached_attention-inl.h), and the cache's keys and values in 8 bits.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/cached_attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/cached_attention-inl.h"
#include "kern/largest-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void quantize_slots(const QuantizeSlots& x) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const std::size_t slot = as_size(x.slots[i]);
    for (std::size_t h = 0; h < x.heads; ++h) {
      const float* from = x.x + i * x.x_stride + h * x.d;
      const float largest = LargestSize(from, x.d);
      const Vec inverse = hn::Set(d, largest > 1e-35f ? 127.0f / largest : 0.0f);  // no finite reciprocal below that
      x.scales[slot * x.heads + h] = largest / 127.0f;
      std::int8_t* to = x.to + (slot * x.heads + h) * x.d;
      HWY_ALIGN std::int32_t rounded[hn::MaxLanes(Floats())];
      const std::size_t lanes = hn::Lanes(d);
      for (std::size_t c = 0; c < x.d; c += lanes) {
        const std::size_t n = smaller(lanes, x.d - c);
        const Vec v = n == lanes ? hn::LoadU(d, from + c) : LoadPart(d, from + c, n);
        hn::Store(hn::NearestInt(hn::Mul(v, inverse)), di, rounded);
        for (std::size_t j = 0; j < n; ++j) to[c + j] = static_cast<std::int8_t>(rounded[j]);
      }
    }
  }
}

}  // namespace

void fill_cached_attention(Kernels& k) {
  k.cached_attention_scratch = scratch_of_rows<FloatProducts>;
  k.cached_attention = attend_all<FloatProducts>;
  k.quantize_slots = quantize_slots;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
