// Attention to a packed memory: up to 32 queries of a row at a time meet all its keys.
//   S = scale Q K^T   P = exp(S - max S)   O = P V / sum P                                  [Vaswani et al. 2017, eq. 1]
#include "kern/memory_attention.h"

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/memory_attention.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr std::size_t kStrip = 32;  // queries at a time

/// Scratch of a call, each piece at a cache line.
struct Space {
  std::uint16_t *queries, *weights;
  float *scores, *tile, *inverse;

  Space(float* scratch, std::size_t d_k, std::size_t keys) {
    auto* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch) + 63) & ~std::uintptr_t{63});
    const auto take = [&](std::size_t bytes) {
      std::byte* const piece = at;
      at += bytes;
      return piece;
    };
    queries = reinterpret_cast<std::uint16_t*>(take(packed_left_values(kStrip, d_k) * 2));
    weights = reinterpret_cast<std::uint16_t*>(take(packed_left_values(kStrip, keys) * 2));
    tile = reinterpret_cast<float*>(take(kStrip * 32 * sizeof(float)));
    inverse = reinterpret_cast<float*>(take(kStrip * sizeof(float)));
    scores = reinterpret_cast<float*>(take(kStrip * keys * sizeof(float)));
  }
};

/// s [n] = exp(scale (s - max s)), zeros up to a multiple of 32; returns the sum.
HWY_INLINE float Exponentiate(float* HWY_RESTRICT s, std::size_t n, float scale) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), padded = tiles_of(n, 32) * 32;
  const Vec none = hn::Set(d, -HUGE_VALF);
  Vec most = none;
  for (std::size_t j = 0; j < n; j += lanes) {
    Vec v = hn::Load(d, s + j);
    if (j + lanes > n) v = hn::IfThenElse(hn::FirstN(d, n - j), v, none);
    most = hn::Max(v, most);
  }
  const Vec shift = hn::MaxOfLanes(d, most), factor = hn::Set(d, scale);
  Vec sum = hn::Zero(d);
  for (std::size_t j = 0; j < padded; j += lanes) {
    Vec e = FastExp(d, hn::Mul(factor, hn::Sub(hn::Load(d, s + j), shift)));
    if (j + lanes > n) e = hn::IfThenElseZero(hn::FirstN(d, j < n ? n - j : 0), e);
    hn::Store(e, d, s + j);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// Queries [first, first + count) of a span and head.
template <class Isa>
HWY_INLINE void Attend(const MemoryAttention& a, const MemorySpan& span, std::size_t head, std::size_t first,
                       std::size_t count, const Space& space, float* out, std::size_t out_stride) {
  const auto row = static_cast<std::size_t>(span.memory), n = static_cast<std::size_t>(a.lengths[row]);
  const std::size_t kv_head = head / (a.heads / a.kv_heads), deep = tiles_of(a.d_k, 32), blocks = tiles_of(n, 32);
  const std::uint16_t* const keys = a.keys + a.key_offsets[row] + kv_head * packed_right_values(a.d_k, n);
  const std::uint16_t* const values = a.values + a.value_offsets[row] + kv_head * packed_right_values(n, a.d_v);
  const std::size_t token = static_cast<std::size_t>(span.q_begin) + first, stride = blocks * 32;
  const auto place = [](std::uint16_t* packed, std::size_t i, std::size_t depth) {
    return packed + i / 16 * depth * tile_values + i % 16 * 32;
  };
  for (std::size_t i = 0; i < count; ++i)
    Isa::pack_row(a.q + (token + i) * a.q_stride + head * a.d_k, a.d_k, deep, place(space.queries, i, deep));
  // What the next head reads lies behind this one's; loads of tiles are not foreseen by the processor.
  const auto fetch = [](const std::uint16_t* p, std::size_t values_of_head) HWY_ATTR {
    for (std::size_t i = 0; i < values_of_head; i += 32) __builtin_prefetch(p + values_of_head + i);
  };
  fetch(keys, packed_right_values(a.d_k, n));
  fetch(values, packed_right_values(n, a.d_v));
  for (std::size_t j = 0; j < blocks; ++j) {
    Isa::block(space.queries, deep, keys + j * 2 * deep * tile_values, deep, count, space.tile);
    for (std::size_t i = 0; i < count; ++i)
      ForEach(32, [&](std::size_t c, auto io)
                      HWY_ATTR { io.store(io.load(space.tile + i * 32 + c), space.scores + i * stride + j * 32 + c); });
  }
  for (std::size_t i = 0; i < count; ++i) {
    space.inverse[i] = 1.0f / Exponentiate(space.scores + i * stride, n, a.scale);
    Isa::pack_row(space.scores + i * stride, stride, blocks, place(space.weights, i, blocks));
  }
  for (std::size_t c = 0; c < a.d_v; c += 32) {
    Isa::block(space.weights, blocks, values + c / 32 * 2 * blocks * tile_values, blocks, count, space.tile);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec factor = hn::Set(Floats(), space.inverse[i]);
      float* const y = out + (token + i) * out_stride + head * a.d_v + c;
      ForEach(smaller(32, a.d_v - c), [&](std::size_t j, auto io) HWY_ATTR {
        io.store(hn::Mul(factor, hn::Load(Floats(), space.tile + i * 32 + j)), y + j);
      });
    }
  }
}

template <class Isa>
void attend(const MemoryAttention& a, float* out, std::size_t out_stride, float* scratch) {
  std::size_t longest = 0;
  for (const MemorySpan* s = a.spans; s != a.spans + a.num_spans; ++s)
    longest = larger(longest, static_cast<std::size_t>(a.lengths[s->memory]));
  const Space space(scratch, a.d_k, tiles_of(longest, 32) * 32);
  Isa::begin();
  for (const MemorySpan* s = a.spans; s != a.spans + a.num_spans; ++s)
    for (std::size_t head = 0; head < a.heads; ++head)
      for (std::size_t first = 0; first < static_cast<std::size_t>(s->q_len); first += kStrip)
        Attend<Isa>(a, *s, head, first, smaller(kStrip, static_cast<std::size_t>(s->q_len) - first), space, out,
                    out_stride);
  Isa::end();
}

}  // namespace

void fill_memory_attention(Kernels& k) {
  k.memory_attention = attend<Emulated>;
}

#if HWY_TARGET == HWY_AVX3
void fill_memory_attention_pairs(Kernels& k) {
  k.memory_attention = attend<PairProducts>;
}
void fill_memory_attention_tiles(Kernels& k) {
  k.memory_attention = attend<TileProducts>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
