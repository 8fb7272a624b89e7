// Blocks of GGUF files: every value by an independent formula in double, and by the gguf package's results for random
// blocks (tests/golden/make_gguf.py).
#include "kern/gguf_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "base/rng.h"
#include "kern/support.h"
#include "support/paths.h"

namespace tril::kern {
namespace {

constexpr GgufType kTypes[] = {GgufType::f32,  GgufType::f16,    GgufType::q4_0,   GgufType::q4_1,
                               GgufType::q5_0, GgufType::q5_1,   GgufType::q8_0,   GgufType::q2_k,
                               GgufType::q3_k, GgufType::q4_k,   GgufType::q5_k,   GgufType::q6_k,
                               GgufType::f64,  GgufType::iq4_nl, GgufType::iq4_xs, GgufType::bf16};

// The bytes of one block, read as bits.
struct Bits {
  const std::uint8_t* p;
  // `count` bits of byte `byte`, from `first` on.
  int at(int byte, int first, int count) const { return p[byte] >> first & ((1 << count) - 1); }
  double half(int byte) const { return f16_to_f32(static_cast<std::uint16_t>(p[byte] | p[byte + 1] << 8)); }
  int whole(int byte) const { return static_cast<std::int8_t>(p[byte]); }
};

// Scale and minimum of group g of Q4_K and Q5_K, whose 12 bytes begin at byte 4.
std::pair<int, int> scales_of(Bits b, int g) {
  if (g < 4) return {b.at(4 + g, 0, 6), b.at(8 + g, 0, 6)};
  return {b.at(8 + g, 0, 4) + 16 * b.at(g, 6, 2), b.at(8 + g, 4, 4) + 16 * b.at(4 + g, 6, 2)};
}

constexpr int kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

bool has_twin(GgufType type) {
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

// Value i of a block of one of kTypes. The others are held against the gguf package alone, with every entry of their codebooks.
double twin(GgufType type, const std::uint8_t* block, int i) {
  const Bits b{block};
  const auto nibble = [&](int from) { return b.at(from + i % 16, i < 16 ? 0 : 4, 4); };  // of 32 values
  const auto two = [&](int from) { return b.at(from + i / 128 * 32 + i % 32, i % 128 / 32 * 2, 2); };
  const auto four = [&](int from) { return b.at(from + i / 64 * 32 + i % 32, i % 64 / 32 * 4, 4); };
  switch (type) {
    case GgufType::f32: {
      float v;
      std::memcpy(&v, block, 4);
      return v;
    }
    case GgufType::f64: {
      double v;
      std::memcpy(&v, block, 8);
      return v;
    }
    case GgufType::f16:
      return b.half(0);
    case GgufType::bf16:
      return bf16_to_f32(static_cast<std::uint16_t>(b.p[0] | b.p[1] << 8));
    case GgufType::q4_0:
      return b.half(0) * (nibble(2) - 8);
    case GgufType::q4_1:
      return b.half(0) * nibble(4) + b.half(2);
    case GgufType::q5_0:
      return b.half(0) * (nibble(6) + 16 * b.at(2 + i / 8, i % 8, 1) - 16);
    case GgufType::q5_1:
      return b.half(0) * (nibble(8) + 16 * b.at(4 + i / 8, i % 8, 1)) + b.half(2);
    case GgufType::q8_0:
      return b.half(0) * b.whole(2 + i);
    case GgufType::q2_k:
      return b.half(80) * b.at(i / 16, 0, 4) * two(16) - b.half(82) * b.at(i / 16, 4, 4);
    case GgufType::q3_k: {
      const int g = i / 16;
      const int scale = b.at(96 + g % 8, g < 8 ? 0 : 4, 4) + 16 * b.at(104 + g % 4, g / 4 * 2, 2);
      return b.half(108) * (scale - 32) * (two(32) + 4 * b.at(i % 32, i / 32, 1) - 4);
    }
    case GgufType::q4_k: {
      const auto [s, m] = scales_of(b, i / 32);
      return b.half(0) * s * four(16) - b.half(2) * m;
    }
    case GgufType::q5_k: {
      const auto [s, m] = scales_of(b, i / 32);
      return b.half(0) * s * (four(48) + 16 * b.at(16 + i % 32, i / 32, 1)) - b.half(2) * m;
    }
    case GgufType::q6_k: {
      const int h = i / 128, j = i % 128;
      const int low = b.at(64 * h + j % 64, j < 64 ? 0 : 4, 4), high = b.at(128 + 32 * h + j % 32, j / 32 * 2, 2);
      return b.half(208) * b.whole(192 + i / 16) * (low + 16 * high - 32);
    }
    case GgufType::iq4_nl:
      return b.half(0) * kUneven[nibble(2)];
    case GgufType::iq4_xs: {
      const int g = i / 32;
      const int scale = b.at(4 + g / 2, g % 2 * 4, 4) + 16 * b.at(2 + g / 4, g % 4 * 2, 2);
      return b.half(0) * (scale - 32) * kUneven[b.at(8 + 16 * g + i % 16, i % 32 < 16 ? 0 : 4, 4)];
    }
    default:
      return NAN;
  }
}

TEST(GgufBlocks, EveryTypeIsItsFormula) {
  RandomSequence random(3, 0);
  for (const GgufType type : kTypes) {
    SCOPED_TRACE(name_of(type));
    const std::size_t n = values_of_block(type), size = bytes_of_block(type);
    for (const std::size_t blocks : {0, 1, 2, 7}) {
      Guarded<std::uint8_t> bytes(blocks * size, blocks % 3);
      for (std::size_t i = 0; i < blocks * size; ++i) bytes.data()[i] = static_cast<std::uint8_t>(random.bits());
      if (type == GgufType::f64)  // within float's range
        for (std::size_t i = 0; i < blocks; ++i) {
          const double v = random.uniform() - 0.5;
          std::memcpy(bytes.data() + i * size, &v, sizeof v);
        }
      Guarded<float> y(blocks * n, blocks % 2);
      dequantize_blocks(type, reinterpret_cast<const std::byte*>(bytes.data()), blocks * n, y.data());
      for (std::size_t i = 0; i < blocks * n; ++i) {
        const double expected = twin(type, bytes.data() + i / n * size, static_cast<int>(i % n));
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(y.data()[i])) << i;
        else if (std::isinf(expected))
          EXPECT_EQ(y.data()[i], expected) << i;
        else  // two products and a difference, which may cancel: of the parts' size
          EXPECT_NEAR(y.data()[i], expected, 1e-6 * (std::fabs(expected) + 65504. * 16)) << i;
      }
      EXPECT_TRUE(y.intact());
    }
  }
}

// The number of tensors of a file whose values it has as well.
int hold_values(const std::string& name) {
  const GgufFile f = GgufFile::open(test::test_dir() + "/golden/gguf/" + name);
  int types = 0;
  for (const GgufTensor& t : f.tensors()) {
    const GgufTensor* const values = f.find_tensor(t.name + ".values");
    if (!values) continue;
    SCOPED_TRACE(t.name);
    ++types;
    const auto n = static_cast<std::size_t>(t.elements());
    std::vector<float> y(n), expected(n);
    dequantize_blocks(t.type, t.bytes.data(), n, y.data());
    dequantize_blocks(values->type, values->bytes.data(), n, expected.data());
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_TRUE(y[i] == expected[i] || (std::isnan(y[i]) && std::isnan(expected[i])))
          << i << ": " << y[i] << ", expected " << expected[i];
      if (!has_twin(t.type)) continue;
      const double exact = twin(
          t.type,
          reinterpret_cast<const std::uint8_t*>(t.bytes.data()) + i / values_of_block(t.type) * bytes_of_block(t.type),
          static_cast<int>(i % values_of_block(t.type)));
      EXPECT_NEAR(y[i], exact, 1e-6 * std::fabs(exact) + 1e-6) << i;
    }
  }
  return types;
}

TEST(GgufBlocks, ValuesAreThoseOfTheGgufPackage) {
  EXPECT_EQ(hold_values("blocks.gguf"), 12);
  EXPECT_EQ(hold_values("low_bits.gguf"), 11);
  EXPECT_EQ(hold_values("codebooks.gguf"), 6);
}

TEST(GgufBlocks, WhatIsMadeIsWhatTheGgufPackageMakes) {
  const GgufFile f = GgufFile::open(test::test_dir() + "/golden/gguf/blocks.gguf");
  const GgufTensor& x = f.tensor("x");
  const auto n = static_cast<std::size_t>(x.elements());
  std::vector<float> values(n);
  dequantize_blocks(x.type, x.bytes.data(), n, values.data());
  for (const char* name : {"F16", "BF16", "Q8_0", "Q4_0"}) {
    SCOPED_TRACE(name);
    const GgufTensor& expected = f.tensor(std::string(name) + ".of_x");
    ASSERT_TRUE(can_quantize_blocks(expected.type));
    std::vector<std::byte> bytes(expected.bytes.size());
    quantize_blocks(expected.type, values.data(), n, bytes.data());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      ASSERT_EQ(bytes[i], expected.bytes[i])
          << "byte " << i % bytes_of_block(expected.type) << " of block " << i / bytes_of_block(expected.type);
  }
}

TEST(GgufBlocks, QuantizedValuesAreNear) {
  RandomSequence random(4, 0);
  std::vector<float> x(32 * 40), y(x.size());
  for (float& v : x) v = static_cast<float>(random.uniform() * 2 - 1);
  const auto largest_error = [&](GgufType type) {
    std::vector<std::byte> bytes(x.size() / values_of_block(type) * bytes_of_block(type));
    quantize_blocks(type, x.data(), x.size(), bytes.data());
    dequantize_blocks(type, bytes.data(), x.size(), y.data());
    double most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::fabs(double{x[i]} - y[i]));
    return most;
  };
  EXPECT_EQ(largest_error(GgufType::f32), 0);
  EXPECT_LE(largest_error(GgufType::f16), 0x1p-12);
  EXPECT_LE(largest_error(GgufType::bf16), 0x1p-9);
  EXPECT_LE(largest_error(GgufType::q8_0), 0.5 / 127 + 0x1p-11);
  EXPECT_LE(largest_error(GgufType::q4_0), 1. / 8 + 0x1p-10);  // a whole step at the end where 8 would be
}

}  // namespace
}  // namespace tril::kern
