// float32 vector functions for all kernels: partial loads and stores, sums over lanes, exp and related functions,
// random bits. Included once for each instruction set (see simd.h).
#if defined(TRIL_KERN_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_MATH_INL_H_
#undef TRIL_KERN_MATH_INL_H_
#else
#define TRIL_KERN_MATH_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "base/rng.h"
#include "hwy/highway.h"
#include "kern/simd.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;

constexpr std::size_t smaller(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}
constexpr std::size_t larger(std::size_t a, std::size_t b) {
  return a < b ? b : a;
}
/// The size of the next part, if what is left is worked through in even parts of at most `most`.
constexpr std::size_t even_part(std::size_t left, std::size_t most) {
  const std::size_t parts = (left + most - 1) / most;
  return (left + parts - 1) / parts;
}

/// The larger and the smaller of two lanes, and b if either is NaN: the kernels count on this, which is what x86's
/// instructions do. ARM's would return the other one.
template <class V>
HWY_INLINE V LargerOf(V a, V b) {
#if HWY_ARCH_X86
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
template <class V>
HWY_INLINE V SmallerOf(V a, V b) {
#if HWY_ARCH_X86
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

/// The first n < Lanes(d) values at p, then zeros; nothing at or beyond p + n is read.
template <class D>
HWY_INLINE hn::Vec<D> LoadPart(D d, const float* HWY_RESTRICT p, std::size_t n) {
#if HWY_TARGET != HWY_AVX2 && HWY_TARGET != HWY_AVX3  // others have no masked loads and stores
  HWY_ALIGN float lanes[hn::MaxLanes(D())] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#else
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#endif
}

/// Stores the first n < Lanes(d) lanes of v; nothing at or beyond p + n is written.
template <class D>
HWY_INLINE void StorePart(hn::Vec<D> v, D d, float* HWY_RESTRICT p, std::size_t n) {
#if HWY_TARGET != HWY_AVX2 && HWY_TARGET != HWY_AVX3  // others have no masked loads and stores
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < n; ++i) p[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#endif
}

/// How a loop body reads and writes: whole vectors, or the last n values of a row.
struct Whole {
  HWY_INLINE Vec load(const float* p) const { return hn::LoadU(Floats(), p); }
  HWY_INLINE void store(Vec v, float* p) const { hn::StoreU(v, Floats(), p); }
  /// v, with `other` in the lanes beyond the row.
  HWY_INLINE Vec or_else(Vec v, Vec) const { return v; }
};
struct Part {
  std::size_t n;
  HWY_INLINE Vec load(const float* p) const { return LoadPart(Floats(), p, n); }
  HWY_INLINE void store(Vec v, float* p) const { StorePart(v, Floats(), p, n); }
  HWY_INLINE Vec or_else(Vec v, Vec other) const { return hn::IfThenElse(hn::FirstN(Floats(), n), v, other); }
};

/// Calls body(i, io) for i = 0, lanes, 2 lanes, ... below n; the last call has io = Part if n is not a multiple.
template <class Body>
HWY_INLINE void ForEach(std::size_t n, const Body& body) {
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Part{n - i});
}

/// The sum of body(i, io) over the same i, by four partial sums; body returns zero in the lanes that it did not load.
template <class Body>
HWY_INLINE float Sum(std::size_t n, const Body& body) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, body(i, Whole{}));
    s1 = hn::Add(s1, body(i + lanes, Whole{}));
    s2 = hn::Add(s2, body(i + 2 * lanes, Whole{}));
    s3 = hn::Add(s3, body(i + 3 * lanes, Whole{}));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, body(i, Whole{}));
  if (i < n) s1 = hn::Add(s1, body(i, Part{n - i}));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

constexpr float log2_e = 1.44269504f;

/// e^x within 2e-7 (relative) for -87.33 <= x <= 88.72; zero below (so exactly zero at -inf), 3.4e38 above; NaN stays
/// NaN. x = n ln 2 + r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 p(r), where p interpolates at Chebyshev nodes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastExp(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V highest = hn::Set(d, 88.7228f), lowest = hn::Set(d, -87.33654f);
  const V shift = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: adding it rounds, and leaves n in the low bits
  const V y = SmallerOf(highest, x);        // this order preserves NaN
  const V shifted = hn::MulAdd(y, hn::Set(d, log2_e), shift);
  const V n = hn::Sub(shifted, shift);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), y);  // nine bits: n times this is exact
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::MulAdd(hn::Set(d, 0.00139261836f), r, hn::Set(d, 0.00836317905f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416665546f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.16666577f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const V e = hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
  return hn::IfThenZeroElse(hn::Lt(x, lowest), e);
}

/// 2^x within 2e-7 (relative) for -126 <= x <= 127; 2^-126 below; NaN stays NaN. x = n + r with |r| <= 1/2, and 2^r
/// = 1 + r p(r), where p is the polynomial of degree 4 with the smallest maximum relative error.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastExp2(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V shift = hn::Set(d, 12582912.0f);       // as in FastExp
  const V y = LargerOf(hn::Set(d, -126.0f), x);  // this order preserves NaN
  const V shifted = hn::Add(y, shift);
  const V r = hn::Sub(y, hn::Sub(shifted, shift));
  V p = hn::MulAdd(hn::Set(d, 0.00132647238f), r, hn::Set(d, 0.00967151299f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0555073358f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.240222424f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.693147004f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

/// tanh(x) within 2e-7 (relative). Up to 0.65 it is x + x^3 p(x^2), where p interpolates at Chebyshev nodes; beyond
/// that, where there is no cancellation, (1 - e) / (1 + e) with e = exp(-2 |x|).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastTanh(D d, V x) {
  const V one = hn::Set(d, 1.0f), a = hn::Abs(x), z = hn::Mul(x, x);
  V p = hn::MulAdd(hn::Set(d, -0.00592372613f), z, hn::Set(d, 0.0208734609f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.0538237579f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.13332583f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.333333284f));
  const V e = FastExp(d, hn::Mul(a, hn::Set(d, -2.0f)));
  const V beyond = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.65f)), hn::MulAdd(hn::Mul(x, z), p, x), beyond);
}

/// 1 / (1 + e^-x)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, FastExp(d, hn::Neg(x))));
}

/// The standard normal distribution's Phi(x), within 1e-7, and its density. Phi(-|x|) = density * q(1 / (1 + 0.23
/// |x|)), the form of Abramowitz & Stegun 26.2.17 with a polynomial of degree 8 that interpolates at Chebyshev nodes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalCdf(D d, V x, V& density) {
  const V one = hn::Set(d, 1.0f), a = hn::Abs(x);
  const V e = FastExp(d, hn::Mul(hn::Mul(a, a), hn::Set(d, -0.5f)));
  const V t = hn::Div(one, hn::MulAdd(a, hn::Set(d, 0.23f), one));
  V q = hn::MulAdd(hn::Set(d, -0.0719354604f), t, hn::Set(d, 0.25638683f));
  q = hn::MulAdd(q, t, hn::Set(d, -0.202057591f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.206249705f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.0400155355f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.0845393497f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.0960101954f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.0907019437f));
  q = hn::MulAdd(q, t, hn::Set(d, 8.94841536e-05f));
  q = hn::Mul(q, e);
  density = hn::Mul(e, hn::Set(d, 0.398942280f));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), q, hn::Sub(one, q));
}

/// random_bits(key, first), random_bits(key, first + 1), ...: one per lane, bit for bit. DU: a tag of uint32_t.
template <class DU, class VU = hn::Vec<DU>>
HWY_INLINE VU RandomBits(DU du, RandomKey key, std::uint32_t first) {
  const std::uint32_t step = 0x9e3779b9u;
  VU x = hn::Add(hn::Mul(hn::Iota(du, 0), hn::Set(du, step)), hn::Set(du, first * step + key.a));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(du, 0x21f0aaadu));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Add(x, hn::Set(du, key.b));
  x = hn::Mul(x, hn::Set(du, 0xd35a2d97u));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

/// The lanes that dropout keeps of elements first, first + 1, ...; threshold is dropout_threshold(p).
template <class D>
HWY_INLINE hn::Mask<D> Kept(D d, RandomKey key, std::uint32_t threshold, std::uint32_t first) {
  const hn::RebindToUnsigned<D> du;
  return hn::Not(hn::RebindMask(d, hn::Lt(RandomBits(du, key, first), hn::Set(du, threshold))));
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_MATH_INL_H_
