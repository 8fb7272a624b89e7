// Each block type as a struct of its bytes with the formula of its values. d, m, s are scales; an f16 is two bytes.
// A name tells the bits per value and the kind: _0 has a scale for 32 values, y = d q; _1 a scale and a minimum, y =
// d q + m; _K has 256 values in sub-blocks of 16 or 32, whose scales are small integers times one or two f16.
#include "kern/gguf_blocks.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/half.h"
#include "kern/gguf_block-inl.h"
#include "kern/gguf_codebook_blocks.h"
#include "kern/stored_values.h"

namespace tril::kern {
namespace {

using gguf::dequantize;
using gguf::half;
using gguf::Half;
using gguf::u8;
using gguf::value;

// y_i = d (q_i - 8), q_i in the lower, q_(i + 16) in the upper half of byte i.
struct Q4_0 {
  Half d;
  u8 q[16];
  void to(float* y) const {
    const float s = value(d);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * static_cast<float>((q[i] & 15) - 8);
      y[i + 16] = s * static_cast<float>((q[i] >> 4) - 8);
    }
  }
  // d = x_k / -8 for the x_k that is farthest from 0, so that it becomes -8 d exactly; values of the other sign
  // reach only 7 d.
  void from(const float* x) {
    float farthest = 0, most = 0;
    for (int i = 0; i < 32; ++i)
      if (std::fabs(x[i]) > most) most = std::fabs(x[i]), farthest = x[i];
    const float s = farthest / -8, inverse = s != 0 ? 1 / s : 0;
    d = half(s);
    const auto rounded = [&](float v) {
      const float n = v * inverse + 8.5f;  // at least 0.5 - rounding
      return n >= 15 ? 15 : static_cast<int>(n);
    };
    for (int i = 0; i < 16; ++i) q[i] = static_cast<u8>(rounded(x[i]) | rounded(x[i + 16]) << 4);
  }
};

// y_i = d q_i + m
struct Q4_1 {
  Half d, m;
  u8 q[16];
  void to(float* y) const {
    const float s = value(d), least = value(m);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * static_cast<float>(q[i] & 15) + least;
      y[i + 16] = s * static_cast<float>(q[i] >> 4) + least;
    }
  }
};

// The fifth bit of value i is bit i of `high`.
int fifth_bit(const u8 high[4], int i) {
  return (high[i / 8] >> i % 8 & 1) << 4;
}

// y_i = d (q_i - 16)
struct Q5_0 {
  Half d;
  u8 high[4], q[16];
  void to(float* y) const {
    const float s = value(d);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * static_cast<float>(((q[i] & 15) | fifth_bit(high, i)) - 16);
      y[i + 16] = s * static_cast<float>(((q[i] >> 4) | fifth_bit(high, i + 16)) - 16);
    }
  }
};

// y_i = d q_i + m
struct Q5_1 {
  Half d, m;
  u8 high[4], q[16];
  void to(float* y) const {
    const float s = value(d), least = value(m);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * static_cast<float>((q[i] & 15) | fifth_bit(high, i)) + least;
      y[i + 16] = s * static_cast<float>((q[i] >> 4) | fifth_bit(high, i + 16)) + least;
    }
  }
};

// y_i = d q_i
struct Q8_0 {
  Half d;
  std::int8_t q[32];
  void to(float* y) const {
    const float s = value(d);
    for (int i = 0; i < 32; ++i) y[i] = s * static_cast<float>(q[i]);
  }
  // d = max |x| / 127
  void from(const float* x) {
    float most = 0;
    for (int i = 0; i < 32; ++i) most = std::fmax(most, std::fabs(x[i]));
    const float s = most / 127, inverse = s != 0 ? 1 / s : 0;
    d = half(s);
    for (int i = 0; i < 32; ++i) q[i] = static_cast<std::int8_t>(std::round(x[i] * inverse));  // halves away from 0
  }
};

// y = d s_g q - e m_g in 16 groups of 16, s_g the lower and m_g the upper half of scales[g]. Values 128 h + 32 j + l
// (l < 32) are bits 2 j, 2 j + 1 of q[32 h + l].
struct Q2_K {
  u8 scales[16], q[64];
  Half d, e;
  void to(float* y) const {
    const float s = value(d), least = value(e);
    for (std::ptrdiff_t g = 0; g < 16; ++g) {
      const u8* const from = q + 32 * (g / 8) + 16 * (g % 2);
      const std::ptrdiff_t shift = 2 * (g / 2 % 4);
      const float dg = s * static_cast<float>(scales[g] & 15), mg = least * static_cast<float>(scales[g] >> 4);
      for (int l = 0; l < 16; ++l) *y++ = dg * static_cast<float>(from[l] >> shift & 3) - mg;
    }
  }
};

// y = d (s_g - 32) (q - 4 [the third bit is 0]) in 16 groups of 16. Two bits of a value lie as in Q2_K; the third of
// value 32 k + l is bit k of high[l]. s_g has its lower four bits in the halves of bytes 0 ... 7 (lower halves first)
// and its upper two in bits 2 (g / 4) of byte 8 + g % 4.
struct Q3_K {
  u8 high[32], q[64], scales[12];
  Half d;
  void to(float* y) const {
    const float s = value(d);
    for (std::ptrdiff_t g = 0; g < 16; ++g) {
      const int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4, top = scales[8 + g % 4] >> 2 * (g / 4) & 3;
      const float dg = s * static_cast<float>((low | top << 4) - 32);
      const u8* const from = q + 32 * (g / 8) + 16 * (g % 2);
      const u8* const third = high + 16 * (g % 2);
      const std::ptrdiff_t shift = 2 * (g / 2 % 4), bit = g / 2;
      for (int l = 0; l < 16; ++l)
        *y++ = dg * static_cast<float>((from[l] >> shift & 3) - (third[l] >> bit & 1 ? 0 : 4));
    }
  }
};

// Six bits each for scale s_g and minimum m_g of 8 groups, in 12 bytes. Groups 0 ... 3 are in the lower six bits of
// bytes g and g + 4. Groups 4 ... 7 have their lower four bits in the halves of byte g + 4 and their upper two in
// the upper two bits of bytes g - 4 and g.
struct ScalesOf8 {
  u8 packed[12];
  int scale(int g) const { return g < 4 ? packed[g] & 63 : (packed[g + 4] & 15) | packed[g - 4] >> 6 << 4; }
  int least(int g) const { return g < 4 ? packed[g + 4] & 63 : packed[g + 4] >> 4 | packed[g] >> 6 << 4; }
};

// y = d s_g q - e m_g in 8 groups of 32; groups 2 k and 2 k + 1 are the lower and upper halves of q[32 k ...].
struct Q4_K {
  Half d, e;
  ScalesOf8 scales;
  u8 q[128];
  void to(float* y) const {
    const float s = value(d), least = value(e);
    for (std::ptrdiff_t g = 0; g < 8; ++g) {
      const float dg = s * static_cast<float>(scales.scale(g)), mg = least * static_cast<float>(scales.least(g));
      const u8* const from = q + 32 * (g / 2);
      const std::ptrdiff_t shift = 4 * (g % 2);
      for (int l = 0; l < 32; ++l) *y++ = dg * static_cast<float>(from[l] >> shift & 15) - mg;
    }
  }
};

// As Q4_K, with the fifth bit of value 32 g + l in bit g of high[l].
struct Q5_K {
  Half d, e;
  ScalesOf8 scales;
  u8 high[32], q[128];
  void to(float* y) const {
    const float s = value(d), least = value(e);
    for (std::ptrdiff_t g = 0; g < 8; ++g) {
      const float dg = s * static_cast<float>(scales.scale(g)), mg = least * static_cast<float>(scales.least(g));
      const u8* const from = q + 32 * (g / 2);
      const std::ptrdiff_t shift = 4 * (g % 2);
      for (int l = 0; l < 32; ++l)
        *y++ = dg * static_cast<float>((from[l] >> shift & 15) | (high[l] >> g & 1) << 4) - mg;
    }
  }
};

// y = d s_g (q - 32) in 16 groups of 16. In each half h of the block, value 32 j + l has its lower four bits in the
// lower (j < 2) or upper halves of low[64 h + 32 (j % 2) + l], and its upper two in bits 2 j of high[32 h + l].
struct Q6_K {
  u8 low[128], high[64];
  std::int8_t scales[16];
  Half d;
  void to(float* y) const {
    const float s = value(d);
    for (std::ptrdiff_t g = 0; g < 16; ++g) {
      const std::ptrdiff_t h = g / 8, j = g / 2 % 4, part = 16 * (g % 2);
      const u8* const lower = low + 64 * h + 32 * (j % 2) + part;
      const u8* const upper = high + 32 * h + part;
      const float dg = s * static_cast<float>(scales[g]);
      for (int l = 0; l < 16; ++l)
        *y++ = dg * static_cast<float>(((lower[l] >> 4 * (j / 2) & 15) | (upper[l] >> 2 * j & 3) << 4) - 32);
    }
  }
};

// The 16 values of the 4-bit codes of IQ4_NL and IQ4_XS: denser near 0.
constexpr std::array<float, 16> kUneven{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// y_i = d v(q_i), in the layout of Q4_0.
struct IQ4_NL {
  Half d;
  u8 q[16];
  void to(float* y) const {
    const float s = value(d);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * kUneven[q[i] & 15];
      y[i + 16] = s * kUneven[q[i] >> 4];
    }
  }
};

// y = d (s_g - 32) v(q) in 8 groups of 32, each in the layout of Q4_0; s_g has its lower four bits in the halves of
// low[g / 2] and its upper two in bits 2 g of high.
struct IQ4_XS {
  Half d;
  u8 high[2], low[4], q[128];
  void to(float* y) const {
    const float s = value(d);
    for (int g = 0; g < 8; ++g, y += 32) {
      const int scale = (low[g / 2] >> 4 * (g % 2) & 15) | (high[g / 4] >> 2 * (g % 4) & 3) << 4;
      const float dg = s * static_cast<float>(scale - 32);
      for (int i = 0; i < 16; ++i) {
        y[i] = dg * kUneven[q[16 * g + i] & 15];
        y[i + 16] = dg * kUneven[q[16 * g + i] >> 4];
      }
    }
  }
};

struct F16 {
  Half h;
  void from(const float* x) { h = half(*x); }
};

struct BF16 {
  Half h;
  void to(float* y) const { *y = bf16_to_f32(static_cast<std::uint16_t>(h[0] | h[1] << 8)); }
  void from(const float* x) {
    const std::uint16_t b = f32_to_bf16(*x);
    h = {static_cast<u8>(b), static_cast<u8>(b >> 8)};
  }
};

struct F64 {
  std::array<std::byte, 8> bytes;
  void to(float* y) const { *y = static_cast<float>(std::bit_cast<double>(bytes)); }
};

// An integer; large ones are rounded.
template <class Integer>
struct Whole {
  std::array<std::byte, sizeof(Integer)> bytes;
  void to(float* y) const { *y = static_cast<float>(std::bit_cast<Integer>(bytes)); }
};

template <class Block>
void quantize(GgufType type, const float* x, std::size_t values, std::byte* blocks) {
  const std::size_t n = values_of_block(type);
  for (std::size_t i = 0; i < values / n; ++i) {
    Block b;
    b.from(x + i * n);
    std::memcpy(blocks + i * sizeof b, &b, sizeof b);
  }
}

}  // namespace

void dequantize_blocks(GgufType type, const std::byte* blocks, std::size_t values, float* y) {
  assert(values % values_of_block(type) == 0);
  switch (type) {
    case GgufType::f32:
      if (values > 0) std::memcpy(y, blocks, values * sizeof(float));
      return;
    case GgufType::f64:
      return dequantize<F64>(type, blocks, values, y);
    case GgufType::f16:
      return widen_f16(blocks, y, values);
    case GgufType::bf16:
      return dequantize<BF16>(type, blocks, values, y);
    case GgufType::q4_0:
      return dequantize<Q4_0>(type, blocks, values, y);
    case GgufType::q4_1:
      return dequantize<Q4_1>(type, blocks, values, y);
    case GgufType::q5_0:
      return dequantize<Q5_0>(type, blocks, values, y);
    case GgufType::q5_1:
      return dequantize<Q5_1>(type, blocks, values, y);
    case GgufType::q8_0:
      return dequantize<Q8_0>(type, blocks, values, y);
    case GgufType::q2_k:
      return dequantize<Q2_K>(type, blocks, values, y);
    case GgufType::q3_k:
      return dequantize<Q3_K>(type, blocks, values, y);
    case GgufType::q4_k:
      return dequantize<Q4_K>(type, blocks, values, y);
    case GgufType::q5_k:
      return dequantize<Q5_K>(type, blocks, values, y);
    case GgufType::q6_k:
      return dequantize<Q6_K>(type, blocks, values, y);
    case GgufType::iq4_nl:
      return dequantize<IQ4_NL>(type, blocks, values, y);
    case GgufType::iq4_xs:
      return dequantize<IQ4_XS>(type, blocks, values, y);
    case GgufType::i8:
      return dequantize<Whole<std::int8_t>>(type, blocks, values, y);
    case GgufType::i16:
      return dequantize<Whole<std::int16_t>>(type, blocks, values, y);
    case GgufType::i32:
      return dequantize<Whole<std::int32_t>>(type, blocks, values, y);
    case GgufType::i64:
      return dequantize<Whole<std::int64_t>>(type, blocks, values, y);
    default:
      return gguf::dequantize_codebook_blocks(type, blocks, values, y);
  }
}

bool can_quantize_blocks(GgufType type) {
  return type == GgufType::f32 || type == GgufType::f16 || type == GgufType::bf16 || type == GgufType::q8_0 ||
         type == GgufType::q4_0;
}

void quantize_blocks(GgufType type, const float* x, std::size_t values, std::byte* blocks) {
  assert(can_quantize_blocks(type) && values % values_of_block(type) == 0);
  switch (type) {
    case GgufType::f32:
      if (values > 0) std::memcpy(blocks, x, values * sizeof(float));
      return;
    case GgufType::f16:
      return quantize<F16>(type, x, values, blocks);
    case GgufType::bf16:
      return quantize<BF16>(type, x, values, blocks);
    case GgufType::q8_0:
      return quantize<Q8_0>(type, x, values, blocks);
    case GgufType::q4_0:
      return quantize<Q4_0>(type, x, values, blocks);
    default:
      return;
  }
}

}  // namespace tril::kern
