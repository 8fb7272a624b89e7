// The arithmetic of the optimizers' steps, and the optional noise for gradients.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/optimizers.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <cmath>

#include "hwy/contrib/math/math-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

double larger(double a, double b) {
  return a > b ? a : b;
}

// Each value of w, m, v, g is read and written once.
void adam(const Adam& a, float* w, float* m, float* v, const float* g, std::size_t n) {
  const Floats d;
  const Vec beta1 = hn::Set(d, a.beta1), rest1 = hn::Set(d, 1 - a.beta1);
  const Vec beta2 = hn::Set(d, a.beta2), rest2 = hn::Set(d, 1 - a.beta2);
  const Vec gradient_scale = hn::Set(d, a.gradient_scale), l2 = hn::Set(d, a.l2), eps = hn::Set(d, a.eps);
  const Vec step = hn::Set(d, a.lr / a.bias1), inv_bias2 = hn::Set(d, 1 / a.bias2);
  const Vec decay = hn::Set(d, a.lr * a.decoupled_decay);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec wi = io.load(w + i);
    const Vec gi = hn::MulAdd(l2, wi, hn::Mul(gradient_scale, io.load(g + i)));
    const Vec mi = hn::MulAdd(beta1, io.load(m + i), hn::Mul(rest1, gi));
    const Vec vi = hn::MulAdd(beta2, io.load(v + i), hn::Mul(rest2, hn::Mul(gi, gi)));
    const Vec denominator = hn::Add(hn::Sqrt(hn::Mul(vi, inv_bias2)), eps);
    const Vec change = hn::MulAdd(decay, wi, hn::Div(hn::Mul(step, mi), denominator));
    io.store(mi, m + i);
    io.store(vi, v + i);
    io.store(hn::Sub(wi, change), w + i);
  });
}

void lion(const Lion& l, float* w, float* m, const float* g, std::size_t n) {
  const Floats d;
  const Vec beta1 = hn::Set(d, l.beta1), rest1 = hn::Set(d, 1 - l.beta1);
  const Vec beta2 = hn::Set(d, l.beta2), rest2 = hn::Set(d, 1 - l.beta2);
  const Vec gradient_scale = hn::Set(d, l.gradient_scale), keep = hn::Set(d, 1 - l.lr * l.decay);
  const Vec lr = hn::Set(d, l.lr), zero = hn::Zero(d);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec gi = hn::Mul(gradient_scale, io.load(g + i)), mi = io.load(m + i);
    const Vec c = hn::MulAdd(beta1, mi, hn::Mul(rest1, gi));
    const Vec signed_lr = hn::IfThenElseZero(hn::Ne(c, zero), hn::CopySign(lr, c));  // sign(0) is 0
    io.store(hn::MulSub(keep, io.load(w + i), signed_lr), w + i);
    io.store(hn::MulAdd(beta2, mi, hn::Mul(rest2, gi)), m + i);
  });
}

void scale_rows_and_columns(const float* a, const float* b, float* x, std::size_t rows, std::size_t cols) {
  const Floats d;
  for (std::size_t i = 0; i < rows; ++i) {
    const Vec ai = hn::Set(d, a[i]);
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      float* const at = x + i * cols + j;
      io.store(hn::Mul(io.load(at), hn::Mul(ai, io.load(b + j))), at);
    });
  }
}

// rows [rows] and columns [cols]: the means of (s x)^2 + eps over each row and each column.
void mean_squares(float s, float eps, const float* x, float* rows_out, float* columns_out, std::size_t rows,
                  std::size_t cols) {
  const Floats d;
  const Vec scale = hn::Set(d, s), e = hn::Set(d, eps);
  const auto square = [&](std::size_t at, auto io) HWY_ATTR {
    const Vec v = hn::Mul(scale, io.load(x + at));
    return hn::MulAdd(v, v, e);
  };
  for (std::size_t j = 0; j < cols; ++j) columns_out[j] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const float sum = Sum(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const Vec v = square(i * cols + j, io);
      io.store(hn::Add(io.load(columns_out + j), v), columns_out + j);
      return io.or_else(v, hn::Zero(d));
    });
    rows_out[i] = sum / static_cast<float>(cols);
  }
  for (std::size_t j = 0; j < cols; ++j) columns_out[j] /= static_cast<float>(rows);
}

// (w, u) -> w - alpha u - decay w, where alpha is the rate after scaling by the root mean squares of w and u.
void move_by(const Adafactor& a, float* w, const float* u, std::size_t n, double squares_of_u) {
  const Floats d;
  double squares_of_w = 0;
  for (std::size_t i = 0; i < n; ++i) squares_of_w += static_cast<double>(w[i]) * static_cast<double>(w[i]);
  const double count = static_cast<double>(n);
  const double size = larger(static_cast<double>(a.eps2), std::sqrt(squares_of_w / count));
  const double clip = larger(1.0, std::sqrt(squares_of_u / count) / static_cast<double>(a.threshold));
  const Vec alpha = hn::Set(d, static_cast<float>(static_cast<double>(a.lr) * size / clip));
  const Vec keep = hn::Set(d, 1 - a.lr * a.decay);
  ForEach(n, [&](std::size_t i, auto io)
                 HWY_ATTR { io.store(hn::NegMulAdd(alpha, io.load(u + i), hn::Mul(keep, io.load(w + i))), w + i); });
}

double squares(const float* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

// state = beta state + (1 - beta) now
void blend(float beta, float* state, const float* now, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) state[i] = beta * state[i] + (1 - beta) * now[i];
}

void adafactor_matrix(const Adafactor& a, float* w, float* row, float* column, float* g, std::size_t rows,
                      std::size_t cols, float* scratch) {
  float* const row_factor = scratch;
  float* const column_factor = scratch + rows;
  mean_squares(a.gradient_scale, a.eps1, g, row_factor, column_factor, rows, cols);
  blend(a.beta2, row, row_factor, rows);
  blend(a.beta2, column, column_factor, cols);
  double mean = 0;
  for (std::size_t i = 0; i < rows; ++i) mean += static_cast<double>(row[i]);
  mean /= static_cast<double>(rows);
  for (std::size_t i = 0; i < rows; ++i)
    row_factor[i] = a.gradient_scale * static_cast<float>(std::sqrt(mean / static_cast<double>(row[i])));
  for (std::size_t j = 0; j < cols; ++j)
    column_factor[j] = static_cast<float>(1 / std::sqrt(static_cast<double>(column[j])));
  scale_rows_and_columns(row_factor, column_factor, g, rows, cols);
  move_by(a, w, g, rows * cols, squares(g, rows * cols));
}

void adafactor_vector(const Adafactor& a, float* w, float* v, float* g, std::size_t n) {
  const Floats d;
  const Vec scale = hn::Set(d, a.gradient_scale), beta = hn::Set(d, a.beta2), rest = hn::Set(d, 1 - a.beta2);
  const Vec eps = hn::Set(d, a.eps1);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec gi = hn::Mul(scale, io.load(g + i));
    const Vec vi = hn::MulAdd(beta, io.load(v + i), hn::Mul(rest, hn::MulAdd(gi, gi, eps)));
    io.store(vi, v + i);
    io.store(hn::Div(gi, hn::Sqrt(vi)), g + i);
  });
  move_by(a, w, g, n, squares(g, n));
}

// Normal numbers by Box and Muller, the first of each pair: sqrt(-2 ln a) cos(2 pi b), a and b uniform in (0, 1).
void add_normal(RandomKey key, float deviation, float* y, std::size_t n) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  const hn::RebindToSigned<Floats> di;
  const RandomKey other = sub_key(key, 1);
  const Vec unit = hn::Set(d, 0x1p-23f), half = hn::Set(d, 0.5f);
  const auto uniform = [&](RandomKey k, std::size_t i) HWY_ATTR {
    const auto bits = hn::ShiftRight<9>(RandomBits(du, k, static_cast<std::uint32_t>(i)));
    return hn::Mul(hn::Add(hn::ConvertTo(d, hn::BitCast(di, bits)), half), unit);
  };
  const Vec size = hn::Set(d, deviation);
  ForEach(n, [&](std::size_t i, auto io) HWY_ATTR {
    const Vec length = hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), hn::Log(d, uniform(key, i))));
    const Vec angle = hn::Mul(hn::Set(d, 6.28318531f), uniform(other, i));
    io.store(hn::MulAdd(hn::Mul(size, length), hn::Cos(d, angle), io.load(y + i)), y + i);
  });
}

}  // namespace

void fill_optimizers(Kernels& k) {
  k.adam = adam;
  k.lion = lion;
  k.adafactor_matrix = adafactor_matrix;
  k.adafactor_vector = adafactor_vector;
  k.add_normal = add_normal;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
