// C = A W^T of integers. Up to 256 rows of A are rounded to 8 bits and stay in the second-level cache. The panels of
// W pass by them once, and each 32 x 32 block of C is scaled and finished while it is in the first-level cache:
//   for rows of A: round A; for panels of W: for 32 rows: block = A_block W_panel; scale, bias, activation, residual
#include "kern/gemm_int8.h"

#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/gemm_int8.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/activation-inl.h"
#include "kern/fill-inl.h"
#include "kern/gemm_int8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void quantize_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t k, std::int8_t* q, float* scales) {
  for (std::size_t i = 0; i < rows; ++i) scales[i] = QuantizeRow(x + i * stride, k, q + i * int8_depth(k));
}

void pack_quantized(const PackQuantized& p) {
  const std::size_t deep = int8_depth(p.k) / int8_tile_depth, groups = (p.k + int4_group - 1) / int4_group;
  const std::size_t row_bytes = p.row_bytes;
  const auto value = [&](std::size_t j, std::size_t i) -> std::uint8_t {  // as stored: a 4-bit zero is 8
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
  if (b.format != BlockFormat::none) return gather_blocks(b, ids, scale, y, rows);
  const std::size_t deep = int8_depth(b.k) / int8_tile_depth;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto j = as_size(ids[i]);
    const std::size_t tile_bytes = int8_tile_bytes * as_size(b.bits) / 8;
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

void select_quantized(const SelectQuantized& s) {
  const QuantizedRight& b = s.from;
  const std::size_t deep = int8_depth(b.k) / int8_tile_depth, tile_bytes = int8_tile_bytes * as_size(b.bits) / 8;
  const std::uint8_t nothing = b.bits == 8 ? 0 : 0x88;  // a 4-bit zero is 8
  for (std::size_t to = 0; to < int8_columns(s.n); ++to) {
    const std::size_t from = to < s.n ? as_size(s.ids[to]) : 0;
    s.scales[to] = to < s.n ? b.scales[from] : 0;
    s.sums[to] = to < s.n ? b.sums[from] : 0;
    for (std::size_t l = 0; l < deep; ++l) {
      const auto tile = [&](std::size_t column) { return (column / 32 * deep + l) * 2 + column % 32 / 16; };
      std::uint8_t* const at = s.values + tile(to) * tile_bytes + to % 16 * 4;
      const std::uint8_t* const of = b.values + tile(from) * tile_bytes + from % 16 * 4;
      for (std::size_t p = 0; p < tile_bytes; p += 64) {
        if (to < s.n)
          __builtin_memcpy(at + p, of + p, 4);
        else
          __builtin_memset(at + p, nothing, 4);
      }
      if (b.bits == 8) continue;
      for (std::size_t g = 0; g < 2; ++g)
        s.multipliers[tile(to) * 32 + g * 16 + to % 16] =
            to < s.n ? b.multipliers[tile(from) * 32 + g * 16 + from % 16] : 0;
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
  if (at.cols == 32) {  // by rows: two vectors of AVX-512 are contiguous
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

template <class F>
HWY_INLINE void FinishFloats(const QuantizedGemm& g, const FloatBlock& at, F f) {
  for (std::size_t i = 0; i < at.rows; ++i) {
    const std::size_t begin = (at.row + i) * g.c_stride + at.col;
    ForEach(at.cols, [&](std::size_t j, auto io) HWY_ATTR {
      Vec y = hn::LoadU(Floats(), at.sums + i * 32 + j);
      if (g.bias) y = hn::Add(y, io.load(g.bias + at.col + j));
      y = f.value(y);
      if (g.residual) y = hn::Add(y, io.load(g.residual + begin + j));
      io.store(y, g.c + begin + j);
    });
  }
}

template <class Isa>
void multiply(const QuantizedGemm& g) {
  if (g.m == 0 || g.b.n == 0) return;
  WithActivation(g.activation, [&](auto f) HWY_ATTR {
    if (g.b.format != BlockFormat::none)
      return SweepBlocks(Isa::blocks, g.b, {.m = g.m, .x = g.a, .stride = g.a_stride}, g.scratch,
                         [&](const FloatBlock& at) HWY_ATTR { FinishFloats(g, at, f); });
    SweepInt8<Isa>(g.b, g.a, g.a_stride, g.m, g.scratch, [&](const IntBlock& at) HWY_ATTR { FinishInt8(g, at, f); });
  });
}

}  // namespace

void fill_gemm_int8(Kernels& k) {
  k.quantize_rows = quantize_rows;
  k.pack_quantized = pack_quantized;
  k.gather_quantized = gather_quantized;
  k.select_quantized = select_quantized;
  k.quantized_gemm = multiply<PairedProducts>;
}

#if TRIL_FOUR_PRODUCTS
void fill_gemm_int8_fours(Kernels& k) {
  k.quantized_gemm = multiply<FourProducts>;
}
#endif
#if TRIL_ARM_PRODUCTS
void fill_gemm_int8_blocks(Kernels& k) {
  k.quantized_gemm = multiply<BlockProducts>;
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_gemm_int8_tiles(Kernels& k) {
  k.quantized_gemm = multiply<FourTiles>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
