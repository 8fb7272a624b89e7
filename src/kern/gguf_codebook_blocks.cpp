// Each block type as a struct of its bytes with the formula of its values; d is an f16 scale, s_g the small integer scale
// of group g. Types IQ give eight or four values at once, by an entry of a codebook and a sign for each value.
#include "kern/gguf_codebook_blocks.h"

#include <bit>
#include <cstddef>

#include "kern/gguf_block-inl.h"
#include "kern/gguf_codebooks.h"

namespace tril::kern::gguf {
namespace {

// y_j = scale * entry_j * sign_j for the `n` values of a codebook's entry; bit j of `signs` is set for a minus.
template <int n, class Levels>
void write_entry(float* y, std::uint16_t entry, const Levels& levels, float scale, int signs) {
  constexpr int width = 16 / n == 2 ? 2 : 3;
  for (int j = 0; j < n; ++j) {
    const auto level = static_cast<float>(levels[entry >> width * j & ((1 << width) - 1)]);
    y[j] = scale * level * (signs >> j & 1 ? -1.f : 1.f);
  }
}

// Seven signs are stored; the eighth makes the number of minuses even.
int with_eighth_sign(std::uint32_t seven) {
  return static_cast<int>(seven | (std::popcount(seven) & 1u) << 7);
}

std::uint32_t word(const u8* p) {
  std::uint32_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

// Scales of groups of 32: d (1/2 + s_g) / 4, s_g the upper four bits of the group's second word. The first word is four
// entries of eight values; the lower 28 bits of the second are seven signs for each.
struct IQ2_XXS {
  Half d;
  u8 q[64];
  void to(float* y) const {
    for (std::ptrdiff_t g = 0; g < 8; ++g) {
      const std::uint32_t second = word(q + 8 * g + 4);
      const float scale = value(d) * (0.5f + static_cast<float>(second >> 28)) * 0.25f;
      for (int k = 0; k < 4; ++k, y += 8)
        write_entry<8>(y, iq2_xxs_codebook[q[8 * g + k]], iq2_xxs_levels, scale,
                       with_eighth_sign(second >> 7 * k & 127));
    }
  }
};

// Groups of 16 with scales d (1/2 + s_g) / 4 of four bits, the first in the lower half. A code of eight values is 9 bits of
// entry and seven signs.
struct IQ2_XS {
  Half d, q[32];
  u8 scales[8];
  void to(float* y) const {
    for (int k = 0; k < 32; ++k, y += 8) {
      const int s = scales[k / 4] >> 4 * (k / 2 % 2) & 15;
      const float scale = value(d) * (0.5f + static_cast<float>(s)) * 0.25f;
      const std::uint16_t code = bits(q[k]);
      write_entry<8>(y, iq2_xs_codebook[code & 511], iq2_xs_levels, scale, with_eighth_sign(code >> 9));
    }
  }
};

// As IQ2_XS, with entries of 10 bits, the upper two in `high`, and all eight signs.
struct IQ2_S {
  Half d;
  u8 q[32], signs[32], high[8], scales[8];
  void to(float* y) const {
    for (int k = 0; k < 32; ++k, y += 8) {
      const int s = scales[k / 4] >> 4 * (k / 2 % 2) & 15, top = high[k / 4] >> 2 * (k % 4) & 3;
      const float scale = value(d) * (0.5f + static_cast<float>(s)) * 0.25f;
      write_entry<8>(y, iq2_s_codebook[static_cast<std::size_t>(q[k] | top << 8)], iq2_s_levels, scale, signs[k]);
    }
  }
};

// Groups of 32 with scales d (1/2 + s_g) / 2. Codes are entries of four values; the words after them are as the second
// words of IQ2_XXS.
struct IQ3_XXS {
  Half d;
  u8 q[64], words[32];
  void to(float* y) const {
    for (std::ptrdiff_t k = 0; k < 64; ++k, y += 4) {
      const std::uint32_t w = word(words + k / 8 * 4);
      const float scale = value(d) * (0.5f + static_cast<float>(w >> 28)) * 0.5f;
      const int signs = with_eighth_sign(w >> 7 * (k / 2 % 4) & 127);
      write_entry<4>(y, iq3_xxs_codebook[q[k]], iq3_xxs_levels, scale, signs >> 4 * (k % 2));
    }
  }
};

// Groups of 32 with scales d (1 + 2 s_g). Entries have 9 bits, the upper one in `high`.
struct IQ3_S {
  Half d;
  u8 q[64], high[8], signs[32], scales[4];
  void to(float* y) const {
    for (int k = 0; k < 64; ++k, y += 4) {
      const int s = scales[k / 16] >> 4 * (k / 8 % 2) & 15, top = high[k / 8] >> k % 8 & 1;
      write_entry<4>(y, iq3_s_codebook[static_cast<std::size_t>(q[k] | top << 8)], iq3_s_levels,
                     value(d) * static_cast<float>(1 + 2 * s), signs[k / 2] >> 4 * (k % 2));
    }
  }
};

// y_j = scale (entry_j + shift) for entries of -1, 0 and 1.
void write_ternary_entry(float* y, std::size_t code, float scale, bool below) {
  const float shift = below ? -0.125f : 0.125f;
  for (int j = 0; j < 8; ++j) y[j] = scale * (static_cast<float>(iq1_levels[iq1_codebook[code] >> 2 * j & 3]) + shift);
}

// Groups of 32 with scales d (2 s_g + 1). A group's 16 bits: the upper three bits of its four entries of 11, s_g, and the
// shift's sign.
struct IQ1_S {
  Half d;
  u8 q[32];
  Half high[8];
  void to(float* y) const {
    for (int k = 0; k < 32; ++k, y += 8) {
      const int h = bits(high[k / 4]), top = h >> 3 * (k % 4) & 7;
      write_ternary_entry(y, static_cast<std::size_t>(q[k] | top << 8),
                          value(d) * static_cast<float>(2 * (h >> 12 & 7) + 1), (h & 0x8000) != 0);
    }
  }
};

// Groups of 16 with scales d (2 s_g + 1), s_g three bits of the words `scales`, whose upper four bits are the bits of d,
// the lowest first. Half a byte of `high` for each entry: the upper three bits of its 11, and its shift's sign.
struct IQ1_M {
  u8 q[32], high[16];
  Half scales[4];
  void to(float* y) const {
    int d = 0;
    for (int i = 0; i < 4; ++i) d |= bits(scales[i]) >> 12 << 4 * i;
    for (int k = 0; k < 32; ++k, y += 8) {
      const int h = high[k / 2] >> 4 * (k % 2) & 15, s = bits(scales[k / 8]) >> 3 * (k / 2 % 4) & 7;
      write_ternary_entry(y, static_cast<std::size_t>(q[k] | (h & 7) << 8),
                          f16_to_f32(static_cast<std::uint16_t>(d)) * static_cast<float>(2 * s + 1), (h & 8) != 0);
    }
  }
};

// y = d (digit - 1) of five ternary digits a byte, which is a fraction of 256: digit n is the whole part of 3 (3^n q mod 256)
// / 256. 32 bytes for five times 32 values, 16 for five times 16, and four, with four digits each, for four times four.
struct TQ1_0 {
  u8 q[48], rest[4];
  Half d;
  void to(float* y) const {
    const float s = value(d);
    const auto write = [&](const u8* from, int count, int digits) {
      for (int n = 0, power = 1; n < digits; ++n, power *= 3)
        for (int m = 0; m < count; ++m) *y++ = s * static_cast<float>((from[m] * power % 256 * 3 >> 8) - 1);
    };
    write(q, 32, 5);
    write(q + 32, 16, 5);
    write(rest, 4, 4);
  }
};

// y = d (q - 1) with two bits a value, in the layout of Q2_K.
struct TQ2_0 {
  u8 q[64];
  Half d;
  void to(float* y) const {
    const float s = value(d);
    for (int h = 0; h < 2; ++h)
      for (int j = 0; j < 4; ++j)
        for (int l = 0; l < 32; ++l) *y++ = s * static_cast<float>((q[32 * h + l] >> 2 * j & 3) - 1);
  }
};

// Twice the values of a float of four bits: a sign, two bits of exponent, one of mantissa.
constexpr std::array<float, 16> fp4_doubled{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// y = 2^(e - 128) v(q), in the layout of Q4_0 [OCP Microscaling Formats 1.0, MXFP4]; v is doubled, so is the power's -127.
struct MXFP4 {
  u8 e, q[16];
  void to(float* y) const {
    // Below the smallest normal number the exponent's bits shift the mantissa.
    const auto s = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1u) << 23);
    for (int i = 0; i < 16; ++i) {
      y[i] = s * fp4_doubled[q[i] & 15];
      y[i + 16] = s * fp4_doubled[q[i] >> 4];
    }
  }
};

// Half the value of an unsigned float with four bits of exponent and three of mantissa; its only NaN counts as 0.
float half_of_ue4m3(u8 x) {
  if (x == 0x7f) return 0;
  const int e = x >> 3 & 15, m = x & 7;
  const float mantissa = e == 0 ? static_cast<float>(m) : static_cast<float>(8 + m);
  return mantissa * std::bit_cast<float>(static_cast<std::uint32_t>(127 - 11 + (e == 0 ? 1 : e)) << 23);
}

// Four groups of 16 with scales of their own, each in a layout like Q4_0's.
struct NVFP4 {
  u8 scales[4], q[32];
  void to(float* y) const {
    for (int g = 0; g < 4; ++g, y += 16) {
      const float s = half_of_ue4m3(scales[g]);
      for (int i = 0; i < 8; ++i) {
        y[i] = s * fp4_doubled[q[8 * g + i] & 15];
        y[i + 8] = s * fp4_doubled[q[8 * g + i] >> 4];
      }
    }
  }
};

}  // namespace

void dequantize_codebook_blocks(GgufType type, const std::byte* blocks, std::size_t values, float* y) {
  switch (type) {
    case GgufType::iq1_s:
      return dequantize<IQ1_S>(type, blocks, values, y);
    case GgufType::iq1_m:
      return dequantize<IQ1_M>(type, blocks, values, y);
    case GgufType::iq2_xxs:
      return dequantize<IQ2_XXS>(type, blocks, values, y);
    case GgufType::iq2_xs:
      return dequantize<IQ2_XS>(type, blocks, values, y);
    case GgufType::iq2_s:
      return dequantize<IQ2_S>(type, blocks, values, y);
    case GgufType::iq3_xxs:
      return dequantize<IQ3_XXS>(type, blocks, values, y);
    case GgufType::iq3_s:
      return dequantize<IQ3_S>(type, blocks, values, y);
    case GgufType::tq1_0:
      return dequantize<TQ1_0>(type, blocks, values, y);
    case GgufType::tq2_0:
      return dequantize<TQ2_0>(type, blocks, values, y);
    case GgufType::mxfp4:
      return dequantize<MXFP4>(type, blocks, values, y);
    case GgufType::nvfp4:
      return dequantize<NVFP4>(type, blocks, values, y);
    default:
      assert(false && "not a type of this file");
  }
}

}  // namespace tril::kern::gguf
