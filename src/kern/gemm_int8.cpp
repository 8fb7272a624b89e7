// C = A W^T of integers. Up to 256 rows of A are rounded to 8 bits, in the second cache at most; the panels of W pass by
// them once, and each 32 x 32 block of C is scaled and finished while it is in the first:
//   for rows of A: round A; for panels of W: for 32 rows: block = A_block W_panel; scale, bias, activation, residual
#include "kern/gemm_int8.h"

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
    for (std::size_t i = 0; j < p.n && i < p.k; ++i)
      sum += p.bits == 8 ? static_cast<std::int8_t>(value(j, i)) : (value(j, i) - 8) * multiplier(j, i / int4_group);
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
  const Floats d;
  const Ints di;
  const std::size_t lanes = hn::Lanes(d);
  float* const c = g.c + at.row * g.c_stride + at.col;
  const float* const residual = g.residual ? g.residual + at.row * g.c_stride + at.col : nullptr;
  for (std::size_t j = 0; j < at.cols; j += lanes) {
    const std::size_t n = at.cols - j;
    const Vec scale = hn::LoadU(d, g.b.scales + at.col + j);
    const auto finish = [&](auto io) HWY_ATTR {
      const Vec bias = g.bias ? io.load(g.bias + at.col + j) : hn::Zero(d);
      for (std::size_t i = 0; i < at.rows; ++i) {
        const Vec sum = hn::ConvertTo(d, hn::Load(di, at.sums + i * 32 + j));
        Vec y = f.value(hn::MulAdd(hn::Mul(sum, scale), hn::Set(d, at.row_scales[i]), bias));
        if (residual) y = hn::Add(y, io.load(residual + i * g.c_stride + j));
        io.store(y, c + i * g.c_stride + j);
      }
    };
    n >= lanes ? finish(Whole{}) : finish(Part{n});
  }
}

template <class Isa>
void multiply(const QuantizedGemm& g) {
  if (g.m == 0 || g.b.n == 0) return;
  WithActivation(g.activation, [&](auto f) HWY_ATTR {
    SweepInt8<Isa>(g.b, g.a, g.a_stride, g.m, g.scratch, [&](const IntBlock& at) HWY_ATTR { FinishInt8(g, at, f); });
  });
}

}  // namespace

void fill_gemm_int8(Kernels& k) {
  k.quantize_rows = quantize_rows;
  k.pack_quantized = pack_quantized;
  k.gather_quantized = gather_quantized;
  k.quantized_gemm = multiply<WidenedProducts>;
}

#if HWY_TARGET == HWY_AVX3
void fill_gemm_int8_vnni(Kernels& k) {
  k.quantized_gemm = multiply<FourProducts>;
}
void fill_gemm_int8_tiles(Kernels& k) {
  k.quantized_gemm = multiply<FourTiles>;
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
