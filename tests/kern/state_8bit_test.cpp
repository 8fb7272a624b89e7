// An optimizer's state in 8 bits: the levels, the nearest of them, zeros, overflow, and the same bits on every instruction set.
#include "kern/state_8bit.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "kern/support.h"

namespace tril::kern::state_8bit_test {
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

const StateLevels& levels_of(StateSigns signs) {
  return signs == StateSigns::any ? signed_levels : positive_levels;
}

// Values that end before a page without access, and their state.
struct Case {
  StateSigns signs;
  Floats32 y, expanded;
  Guarded<std::uint8_t> codes;
  Floats32 scales;

  Case(StateSigns of, std::size_t n, std::size_t slack = 0)
      : signs(of),
        y(n, slack),
        expanded(n, slack ^ 1),
        codes(n, slack),
        scales((n + state_block - 1) / state_block, slack) {}
  void run() {
    quantize_state(signs, y, codes, scales, y.size());
    expand_state(signs, codes, scales, expanded, y.size());
  }
  bool intact() const { return y.intact() && expanded.intact() && codes.intact() && scales.intact(); }
};

// Over eight decades.
void fill_wide(Case& c, std::uint64_t stream) {
  RandomSequence random(5, stream);
  for (std::size_t i = 0; i < c.y.size(); ++i) {
    const double x = random.normal() * std::pow(10, -8 * random.uniform());
    c.y[i] = static_cast<float>(c.signs == StateSigns::any ? x : x * x);
  }
}

TEST(StateLevels, RiseFromCodeToCodeAndHoldZeroAndOne) {
  for (const StateLevels* levels : {&signed_levels, &positive_levels})
    for (int code = 1; code < 256; ++code) EXPECT_LT(levels->value[code - 1], levels->value[code]) << code;
  EXPECT_EQ(signed_levels.value[127], 0);
  EXPECT_EQ(signed_levels.value[255], 1);
  EXPECT_EQ(positive_levels.value[0], 0);
  EXPECT_EQ(positive_levels.value[255], 1);
  for (int code = 0; code < 127; ++code) EXPECT_EQ(signed_levels.value[code], -signed_levels.value[254 - code]) << code;
  // The paper's construction: the centres of 2^i intervals between 0.1 and 1, times 10^(i - 6).
  EXPECT_FLOAT_EQ(signed_levels.value[128], 0.55e-6f);
  EXPECT_FLOAT_EQ(signed_levels.value[129], 0.325e-5f);
  EXPECT_FLOAT_EQ(signed_levels.value[254], static_cast<float>(1 - 0.45 / 64));
  EXPECT_FLOAT_EQ(positive_levels.value[1], 0.325e-6f);
  EXPECT_FLOAT_EQ(positive_levels.value[254], static_cast<float>(1 - 0.45 / 128));
}

TEST(State8Bit, EveryValueGetsTheNearestLevel) {
  on_every_instruction_set([] {
    for (const StateSigns signs : {StateSigns::any, StateSigns::positive})
      for (std::uint64_t stream = 1; stream <= 20; ++stream) {
        Case c(signs, 4 * state_block);
        fill_wide(c, stream);
        c.run();
        const float(&levels)[256] = levels_of(signs).value;
        for (std::size_t begin = 0; begin < c.y.size(); begin += state_block) {
          float most = 0;
          for (std::size_t i = begin; i < begin + state_block; ++i) most = std::max(most, std::abs(c.y[i]));
          ASSERT_EQ(c.scales[begin / state_block], most);
          for (std::size_t i = begin; i < begin + state_block; ++i) {
            ASSERT_EQ(c.expanded[i], levels[c.codes[i]] * most);
            const double x = static_cast<double>(c.y[i]) / static_cast<double>(most);
            double least = 2;
            for (const float level : levels) least = std::min(least, std::abs(static_cast<double>(level) - x));
            const double distance = std::abs(static_cast<double>(levels[c.codes[i]]) - x);
            if (signs == StateSigns::positive && c.codes[i] == 1) {  // in place of zero, too
              ASSERT_LE(x, 0.551e-6);
              continue;
            }
            // Half an interval in the value's decade; halfway between two levels, rounding may choose either.
            ASSERT_LE(distance, least + 2e-7 * std::abs(x) + 1e-12) << x;
            ASSERT_LE(distance, signs == StateSigns::any ? 0.45 / 64 + 1e-6 : 0.45 / 128 + 1e-6) << x;
          }
        }
      }
  });
}

TEST(State8Bit, EveryInstructionSetGivesTheSameBits) {
  for (const StateSigns signs : {StateSigns::any, StateSigns::positive}) {
    std::vector<std::uint8_t> codes;
    std::vector<float> scales, expanded;
    on_every_instruction_set([&] {
      Case c(signs, 64 * state_block + 77);
      fill_wide(c, 3);
      // Values between two intervals, and at the ends of decades.
      for (int code = 1; code < 256; ++code)
        c.y[static_cast<std::size_t>(code)] = (levels_of(signs).value[code - 1] + levels_of(signs).value[code]) / 2;
      c.y[0] = 1;
      c.run();
      if (codes.empty()) codes = c.codes.copy(), scales = c.scales.copy(), expanded = c.expanded.copy();
      EXPECT_EQ(c.codes.copy(), codes);
      EXPECT_EQ(c.scales.copy(), scales);
      EXPECT_EQ(c.expanded.copy(), expanded);
    });
  }
}

TEST(State8Bit, AnyNumberOfValuesAtAnyAddress) {
  std::vector<std::size_t> counts = sizes();
  for (std::size_t n : {255u, 256u, 257u, 300u, 511u, 512u, 513u}) counts.push_back(n);
  on_every_instruction_set([&] {
    for (const StateSigns signs : {StateSigns::any, StateSigns::positive})
      for (const std::size_t n : counts)
        for (std::size_t slack = 0; slack < 3; ++slack) {
          Case c(signs, n, slack);
          fill_wide(c, n);
          c.run();
          EXPECT_TRUE(c.intact()) << n;
          for (std::size_t i = 0; i < n; ++i)  // half of the widest interval
            ASSERT_NEAR(c.expanded[i], c.y[i], 0.0071 * static_cast<double>(c.scales[i / state_block]))
                << n << ", " << i;
        }
  });
}

TEST(State8Bit, ZerosStayZero) {
  on_every_instruction_set([] {
    for (const StateSigns signs : {StateSigns::any, StateSigns::positive}) {
      Case c(signs, 2 * state_block);
      std::fill_n(c.y.data(), c.y.size(), 0.0f);
      c.y[300] = 0.37f;
      c.run();
      EXPECT_EQ(c.scales[0], 0);
      for (std::size_t i = 0; i < c.y.size(); ++i) ASSERT_EQ(c.expanded[i], c.y[i]) << i;
      // As memory that was never written.
      std::fill_n(c.codes.data(), c.codes.size(), std::uint8_t{0});
      std::fill_n(c.scales.data(), c.scales.size(), 0.0f);
      expand_state(signs, c.codes, c.scales, c.expanded, c.y.size());
      for (std::size_t i = 0; i < c.y.size(); ++i) ASSERT_EQ(c.expanded[i], 0) << i;
    }
  });
}

TEST(State8Bit, APositiveValueDoesNotBecomeZero) {
  on_every_instruction_set([] {
    Case c(StateSigns::positive, state_block);
    std::fill_n(c.y.data(), c.y.size(), 1e-12f);
    c.y[0] = 1;
    c.y[1] = std::numeric_limits<float>::denorm_min();
    c.run();
    for (std::size_t i = 1; i < c.y.size(); ++i) ASSERT_EQ(c.codes[i], 1) << i;
    EXPECT_EQ(c.codes[0], 255);
  });
}

TEST(State8Bit, SmallScalesAreScalesToo) {
  on_every_instruction_set([] {
    Case c(StateSigns::any, state_block);
    for (std::size_t i = 0; i < c.y.size(); ++i)
      c.y[i] = 1e-39f * (static_cast<float>(i) / 128 - 1);  // below the normal numbers
    c.run();
    for (std::size_t i = 0; i < c.y.size(); ++i) ASSERT_NEAR(c.expanded[i], c.y[i], 0.0071e-39) << i;
  });
}

TEST(State8Bit, WhatOverflowsIsCapped) {
  on_every_instruction_set([] {
    constexpr float infinite = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
    for (const StateSigns signs : {StateSigns::any, StateSigns::positive}) {
      Case c(signs, state_block);
      std::fill_n(c.y.data(), c.y.size(), 1.0f);
      c.y[3] = infinite;
      c.y[4] = signs == StateSigns::any ? -infinite : infinite;
      c.y[5] = std::numeric_limits<float>::quiet_NaN();
      c.run();
      EXPECT_EQ(c.scales[0], largest);
      EXPECT_EQ(c.expanded[3], largest);
      EXPECT_GT(std::abs(c.expanded[4]), 0.99f * largest);
      for (std::size_t i = 0; i < c.y.size(); ++i) ASSERT_TRUE(std::isfinite(c.expanded[i])) << i;
    }
  });
}

}  // namespace
}  // namespace tril::kern::state_8bit_test
