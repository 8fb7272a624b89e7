// The k largest of each row. A vector of values is compared with the k-th best so far, which few exceed: of n values
// in random order about k ln(n / k) do, and little more than k once a bound is known. The k best are in the output
// itself, as a heap with the worst at its root. NaN counts as less than everything, so it is chosen only if nothing
// else is left.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/top_k.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/top_k-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// A value that at least k, and few more, of the row's values reach: x is divided into 256 groups, and at least k
/// values are as large as the k-th largest of the groups' maxima, which bisection approaches from below. -inf if
/// that would not help.
HWY_INLINE float LowerBound(const float* x, std::size_t cols, std::size_t k) {
  constexpr std::size_t groups = 256;
  if (cols < 4 * groups || k > groups / 4) return -HUGE_VALF;
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN float maxima[groups];
  for (std::size_t i = 0; i < groups; i += lanes) hn::Store(hn::Set(d, -HUGE_VALF), d, maxima + i);
  for (std::size_t j = 0; j + groups <= cols; j += groups)
    for (std::size_t i = 0; i < groups; i += lanes)  // this order of max skips NaN
      hn::Store(LargerOf(hn::LoadU(d, x + j + i), hn::Load(d, maxima + i)), d, maxima + i);
  Vec least = hn::Load(d, maxima), most = least;
  for (std::size_t i = lanes; i < groups; i += lanes) {
    least = SmallerOf(least, hn::Load(d, maxima + i));
    most = LargerOf(most, hn::Load(d, maxima + i));
  }
  float low = hn::GetLane(hn::MinOfLanes(d, least)), high = hn::GetLane(hn::MaxOfLanes(d, most));
  if (!(low > -HUGE_VALF && high < HUGE_VALF)) return -HUGE_VALF;
  for (int halvings = 0; halvings < 10; ++halvings) {
    const float middle = low + (high - low) / 2;
    std::size_t reached = 0;
    for (std::size_t i = 0; i < groups; i += lanes)
      reached += hn::CountTrue(d, hn::Ge(hn::Load(d, maxima + i), hn::Set(d, middle)));
    if (reached >= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

void top_k_row(const float* x, std::size_t cols, std::size_t k, float* values, std::int32_t* indices) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const float bound = LowerBound(x, cols, k);
  Heap heap{values, indices, 0};
  std::size_t j = 0;
  if (bound == -HUGE_VALF) {
    for (; j < k; ++j) {
      values[j] = x[j];
      indices[j] = static_cast<std::int32_t>(j);
    }
    heap.size = k;
    heap.build();
  }
  // Only larger values are considered: the k-th best or, while there are fewer than k, just below the bound.
  float beaten = heap.size == k ? values[0] : nextafterf(bound, -HUGE_VALF);
  const auto take = [&](std::size_t at) HWY_ATTR {
    if (heap.size == k) {
      heap.offer(x[at], static_cast<std::int32_t>(at));
    } else if (x[at] > beaten) {
      values[heap.size] = x[at];
      indices[heap.size] = static_cast<std::int32_t>(at);
      if (++heap.size == k) heap.build();
    }
    if (heap.size == k) beaten = values[0];
  };
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {
    // Not "greater": this is also false if either is NaN, and then the closer look decides.
    const Vec worst = hn::Set(d, beaten);
    const auto in01 = hn::And(hn::Le(hn::LoadU(d, x + j), worst), hn::Le(hn::LoadU(d, x + j + lanes), worst));
    const auto in23 =
        hn::And(hn::Le(hn::LoadU(d, x + j + 2 * lanes), worst), hn::Le(hn::LoadU(d, x + j + 3 * lanes), worst));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(in01, in23)))) continue;
    for (std::size_t i = j; i < j + 4 * lanes; i += lanes) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Not(hn::Le(hn::LoadU(d, x + i), hn::Set(d, beaten))), bytes);
      for (std::uint32_t bits = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8; bits != 0; bits &= bits - 1)
        take(i + as_size(__builtin_ctz(bits)));
    }
  }
  for (; j < cols; ++j) take(j);
  heap.sort();
}

/// The largest value and its first index.
void argmax_row(const float* x, std::size_t cols, float* value, std::int32_t* index) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec lowest = hn::Set(d, -HUGE_VALF);
  Vec m0 = lowest, m1 = lowest, m2 = lowest, m3 = lowest;
  std::size_t j = 0;
  for (; j + 4 * lanes <= cols; j += 4 * lanes) {  // the processor's max returns its second operand if one is NaN
    m0 = LargerOf(hn::LoadU(d, x + j), m0);
    m1 = LargerOf(hn::LoadU(d, x + j + lanes), m1);
    m2 = LargerOf(hn::LoadU(d, x + j + 2 * lanes), m2);
    m3 = LargerOf(hn::LoadU(d, x + j + 3 * lanes), m3);
  }
  float best = hn::GetLane(hn::MaxOfLanes(d, LargerOf(LargerOf(m0, m1), LargerOf(m2, m3))));
  for (; j < cols; ++j)
    if (x[j] > best) best = x[j];
  const Vec b = hn::Set(d, best);
  std::size_t at = 0;
  for (; at + 4 * lanes <= cols; at += 4 * lanes) {
    const auto e01 = hn::Or(hn::Eq(hn::LoadU(d, x + at), b), hn::Eq(hn::LoadU(d, x + at + lanes), b));
    const auto e23 = hn::Or(hn::Eq(hn::LoadU(d, x + at + 2 * lanes), b), hn::Eq(hn::LoadU(d, x + at + 3 * lanes), b));
    if (!hn::AllFalse(d, hn::Or(e01, e23))) break;
  }
  while (at < cols && !(x[at] == best)) ++at;
  if (at == cols) at = 0;  // all are NaN
  *value = x[at];
  *index = static_cast<std::int32_t>(at);
}

void top_k(const float* x, std::size_t rows, std::size_t cols, std::size_t k, float* values, std::int32_t* indices) {
  if (k == 0) return;
  for (std::size_t row = 0; row < rows; ++row, x += cols, values += k, indices += k) {
    if (k == 1)
      argmax_row(x, cols, values, indices);
    else
      top_k_row(x, cols, k, values, indices);
  }
}

}  // namespace

void fill_top_k(Kernels& k) {
  k.top_k = top_k;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
