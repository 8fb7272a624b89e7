// The activations with their derivatives, as types with value(x) and slope(x): the loops over them are templates.
//   relu: max(x, 0)      relu_squared: max(x, 0)^2 [So et al. 2021]      gelu: x Phi(x)
//   silu: x s(x), s the logistic function      sigmoid: s(x)
//   softplus: ln(1 + e^x)
//   exp_excess: e^n - 1 - n of n = min(x, 0), the part of xIELU below zero [Huang & Schlag 2025, eq. 6]
//   gelu_tanh: x/2 (1 + tanh u) = x s(2u),  u = sqrt(2/pi) (x + 0.044715 x^3)        [Hendrycks & Gimpel 2016]
#if defined(TRIL_KERN_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_ACTIVATION_INL_H_
#undef TRIL_KERN_ACTIVATION_INL_H_
#else
#define TRIL_KERN_ACTIVATION_INL_H_
#endif

#include "hwy/contrib/math/math-inl.h"
#include "kern/kernels.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

struct ValueAndSlope {
  Vec value, slope;
};

struct Identity {
  static HWY_INLINE Vec value(Vec x) { return x; }
  static HWY_INLINE ValueAndSlope both(Vec x) { return {x, hn::Set(Floats(), 1.0f)}; }
};

struct Relu {
  /// The processor's max returns its second operand if one is NaN: with this order NaN stays NaN.
  static HWY_INLINE Vec value(Vec x) { return LargerOf(hn::Zero(Floats()), x); }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Floats d;
    return {value(x), hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f))};
  }
};

struct ReluSquared {
  static HWY_INLINE Vec value(Vec x) {
    const Vec y = Relu::value(x);
    return hn::Mul(y, y);
  }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Vec y = Relu::value(x);
    return {hn::Mul(y, y), hn::Add(y, y)};
  }
};

struct Gelu {
  static HWY_INLINE Vec value(Vec x) {
    Vec density;
    return hn::Mul(x, NormalCdf(Floats(), x, density));
  }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    Vec density;
    const Vec cdf = NormalCdf(Floats(), x, density);
    return {hn::Mul(x, cdf), hn::MulAdd(x, density, cdf)};
  }
};

struct GeluTanh {
  static constexpr float scale = 1.5957691216f, cubic = 0.044715f;  // 2 sqrt(2 / pi)

  static HWY_INLINE Vec gate(Vec x, Vec xx) {
    const Floats d;
    const Vec u = hn::Mul(x, hn::MulAdd(xx, hn::Set(d, scale * cubic), hn::Set(d, scale)));
    return Sigmoid(d, u);
  }
  static HWY_INLINE Vec value(Vec x) { return hn::Mul(x, gate(x, hn::Mul(x, x))); }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Floats d;
    const Vec xx = hn::Mul(x, x), s = gate(x, xx);
    const Vec du = hn::MulAdd(xx, hn::Set(d, 3 * scale * cubic), hn::Set(d, scale));
    const Vec ds = hn::Mul(hn::Mul(s, hn::Sub(hn::Set(d, 1.0f), s)), du);
    return {hn::Mul(x, s), hn::MulAdd(x, ds, s)};
  }
};

struct Silu {
  static HWY_INLINE Vec value(Vec x) { return hn::Mul(x, Sigmoid(Floats(), x)); }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Floats d;
    const Vec s = Sigmoid(d, x);
    return {hn::Mul(x, s), hn::Mul(s, hn::MulAdd(x, hn::Sub(hn::Set(d, 1.0f), s), hn::Set(d, 1.0f)))};
  }
};

struct SigmoidOf {
  static HWY_INLINE Vec value(Vec x) { return Sigmoid(Floats(), x); }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Vec s = value(x);
    return {s, hn::Mul(s, hn::Sub(hn::Set(Floats(), 1.0f), s))};
  }
};

struct Softplus {  // max(x, 0) + ln(1 + e^-|x|), which overflows nowhere
  static HWY_INLINE Vec value(Vec x) {
    const Floats d;
    return hn::Add(Relu::value(x), hn::Log1p(d, FastExp(d, hn::Neg(hn::Abs(x)))));
  }
  static HWY_INLINE ValueAndSlope both(Vec x) { return {value(x), Sigmoid(Floats(), x)}; }
};

struct ExpExcess {
  static HWY_INLINE Vec value(Vec x) { return both(x).value; }
  static HWY_INLINE ValueAndSlope both(Vec x) {
    const Floats d;
    const Vec n = SmallerOf(hn::Zero(d), x), slope = hn::Sub(FastExp(d, n), hn::Set(d, 1.0f));
    return {hn::Sub(slope, n), slope};
  }
};

/// body(Relu()) and so on, by name.
template <class Body>
HWY_INLINE void WithActivation(Activation f, const Body& body) {
  switch (f) {
    case Activation::none:
      return body(Identity());
    case Activation::relu:
      return body(Relu());
    case Activation::relu_squared:
      return body(ReluSquared());
    case Activation::gelu:
      return body(Gelu());
    case Activation::gelu_tanh:
      return body(GeluTanh());
    case Activation::silu:
      return body(Silu());
    case Activation::sigmoid:
      return body(SigmoidOf());
    case Activation::softplus:
      return body(Softplus());
    case Activation::exp_excess:
      return body(ExpExcess());
  }
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_ACTIVATION_INL_H_
