// Values of files in float: every binary16, and tables of 16 values, bit for bit on every instruction set of this processor.
#include "kern/stored_values.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "base/half.h"
#include "kern/support.h"

namespace tril::kern {
namespace {

// Runs `test` with each instruction set that the processor has, as if it were the best.
void on_every_instruction_set(const std::function<void()>& test) {
  for (std::int64_t all = hwy::SupportedTargets(); all != 0; all &= all - 1) {
    SCOPED_TRACE(hwy::TargetName(all & -all));
    hwy::SetSupportedTargetsForTest(all & -all);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST(StoredValues, EveryHalfFloatIsWidenedExactly) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  on_every_instruction_set([&] {
    std::vector<float> wide(halves.size());
    widen_f16(reinterpret_cast<const std::byte*>(halves.data()), wide.data(), wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(bits(wide[i]), bits(f16_to_f32(halves[i]))) << i;
  });
}

TEST(StoredValues, HalfFloatsMayLieAtAnyAddress) {
  on_every_instruction_set([] {
    for (const std::size_t n : sizes()) {
      Guarded<std::uint8_t> bytes(2 * n, n % 2);
      for (std::size_t i = 0; i < n; ++i) {
        const auto half = static_cast<std::uint16_t>(0x3c00 + i);
        std::memcpy(bytes.data() + 2 * i, &half, sizeof half);
      }
      Guarded<float> y(n, n % 3);
      widen_f16(reinterpret_cast<const std::byte*>(bytes.data()), y.data(), n);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(bits(y[i]), bits(f16_to_f32(static_cast<std::uint16_t>(0x3c00 + i)))) << n << ", " << i;
      EXPECT_TRUE(y.intact()) << n;
    }
  });
}

// 16 values whose bits tell them apart, NaN and infinity among them.
std::array<float, 16> sixteen() {
  std::array<float, 16> levels{};
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = 0.25f - static_cast<float>(i * i);
  levels[3] = std::bit_cast<float>(0x7fc12345u);
  levels[11] = INFINITY;
  return levels;
}

TEST(StoredValues, NumbersOfWordsAreLookedUpFromTheLowestBits) {
  const std::array<float, 16> levels = sixteen();
  on_every_instruction_set([&] {
    for (const std::size_t distance : {4u, 7u, 20u})
      for (const std::size_t n : {0u, 1u, 2u, 5u, 16u}) {
        Guarded<std::uint8_t> bytes(n == 0 ? 0 : (n - 1) * distance + 4, 1);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(37 * i + 11);
        Guarded<float> y(8 * n, n % 3);
        look_up_words(levels.data(), {reinterpret_cast<const std::byte*>(bytes.data()), distance, n}, y.data());
        for (std::size_t i = 0; i < 8 * n; ++i) {
          const int byte = bytes[i / 8 * distance + i % 8 / 2], q = i % 2 ? byte >> 4 : byte & 15;
          ASSERT_EQ(bits(y[i]), bits(levels[static_cast<std::size_t>(q)])) << n << ", " << distance << ", " << i;
        }
        EXPECT_TRUE(y.intact()) << n;
      }
  });
}

TEST(StoredValues, OneNumberOfEachWordIsLookedUp) {
  const std::array<float, 16> levels = sixteen();
  on_every_instruction_set([&] {
    for (const std::size_t n : sizes())
      for (int shift = 0; shift < 32; shift += 4) {
        Guarded<std::uint32_t> words(n);
        for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint32_t>(0x9e3779b9u * (i + 1));
        Guarded<float> y(n, n % 3);
        look_up_columns(levels.data(), words.data(), shift, n, y.data());
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(bits(y[i]), bits(levels[words[i] >> shift & 15])) << n << ", " << shift << ", " << i;
        EXPECT_TRUE(y.intact()) << n;
      }
  });
}

}  // namespace
}  // namespace tril::kern
