// The vector mathematics that kernels share, on every instruction set: exp over its whole range, and the random bits.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/exp.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

void exp_of(const float* x, float* y, std::size_t n) {
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(FastExp(Floats(), io.load(x + i)), y + i); });
}

void exp2_of(const float* x, float* y, std::size_t n) {
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR { io.store(FastExp2(Floats(), io.load(x + i)), y + i); });
}

void bits_of(RandomKey key, std::uint32_t first, std::uint32_t* y, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))  // n is a multiple of every instruction set's lanes
    hn::StoreU(RandomBits(d, key, first + static_cast<std::uint32_t>(i)), d, y + i);
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kern/support.h"

namespace tril::kern {
namespace {

struct Functions {
  const char* name;
  void (*exp)(const float*, float*, std::size_t);
  void (*exp2)(const float*, float*, std::size_t);
  void (*bits)(RandomKey, std::uint32_t, std::uint32_t*, std::size_t);
};

std::vector<Functions> functions() {
  std::vector<Functions> all;
  for (const Functions f : {
           Functions{"generic", HWY_STATIC_DISPATCH(exp_of), HWY_STATIC_DISPATCH(exp2_of),
                     HWY_STATIC_DISPATCH(bits_of)},
#ifdef __x86_64__
           Functions{"avx2", N_AVX2::exp_of, N_AVX2::exp2_of, N_AVX2::bits_of},
           Functions{"avx512", N_AVX3::exp_of, N_AVX3::exp2_of, N_AVX3::bits_of},
#endif
       })
    if (table(f.name)) all.push_back(f);
  return all;
}

TEST(Exp2, IsWithinTwoRoundingsAndNeverNothing) {
  std::vector<float> x, y;
  for (double v = -126; v <= 127; v += 2.3e-4) x.push_back(static_cast<float>(v));
  y.resize(x.size());
  for (const Functions& f : functions()) {
    f.exp2(x.data(), y.data(), x.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::abs(y[i] / std::exp2(static_cast<double>(x[i])) - 1));
    EXPECT_LT(worst, 2.5e-7) << f.name;
    const std::vector<float> odd{-127, -1e30f, -INFINITY, NAN, 0, 1, -1};
    std::vector<float> z(odd.size());
    f.exp2(odd.data(), z.data(), odd.size());
    for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(z[i], std::exp2(-126.0f)) << f.name;
    EXPECT_TRUE(std::isnan(z[3])) << f.name;
    EXPECT_EQ(z[4], 1.0f);
    EXPECT_NEAR(z[5], 2.0f, 5e-7);
    EXPECT_NEAR(z[6], 0.5f, 2e-7);
  }
}

TEST(Exp, IsWithinTwoRoundings) {
  std::vector<float> x, y;
  for (double v = -87.33; v < 88.72; v += 1.7e-4) x.push_back(static_cast<float>(v));
  for (double v = 1e-12; v < 1; v *= 1.01) x.insert(x.end(), {static_cast<float>(v), static_cast<float>(-v)});
  y.resize(x.size());
  for (const Functions& f : functions()) {
    f.exp(x.data(), y.data(), x.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::abs(y[i] / std::exp(static_cast<double>(x[i])) - 1));
    EXPECT_LT(worst, 2e-7) << f.name;
    RecordProperty(f.name, std::to_string(worst * 1e9) + "e-9");
  }
}

TEST(Exp, AtItsEnds) {
  const std::vector<float> x = {-HUGE_VALF, -1e30f, -88, -87.34f, 0, -0.0f, 89, HUGE_VALF, NAN, -NAN};
  std::vector<float> y(x.size());
  for (const Functions& f : functions()) {
    f.exp(x.data(), y.data(), x.size());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 0) << f.name << " " << i;
    EXPECT_EQ(y[4], 1) << f.name;
    EXPECT_EQ(y[5], 1) << f.name;
    for (std::size_t i : {6u, 7u}) EXPECT_TRUE(y[i] > 3.4e38f && std::isfinite(y[i])) << f.name;
    for (std::size_t i : {8u, 9u}) EXPECT_TRUE(std::isnan(y[i])) << f.name;
  }
}

TEST(RandomBits, AreTheScalarOnes) {
  std::vector<std::uint32_t> y(1024);
  for (const Functions& f : functions())
    for (const RandomKey key : {RandomKey{0, 0}, random_key(1, 2), random_key(3, 4)})
      for (const std::uint32_t first : {0u, 5u, 0x7ffffff0u, 0xfffffe00u}) {  // the last wraps to index 0
        f.bits(key, first, y.data(), y.size());
        for (std::uint32_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], random_bits(key, first + i)) << f.name;
      }
}

}  // namespace
}  // namespace tril::kern
#endif  // HWY_ONCE
