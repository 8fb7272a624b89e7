// Loops over matrices [rows, cols]: bias and activation, column sums, transposition, strided copies.
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/matrix.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/activation-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void bias_activate(Activation name, const float* x, const float* bias, float* y, std::size_t rows, std::size_t cols) {
  WithActivation(name, [&](auto f) HWY_ATTR {
    if (!bias) {
      ForEach(rows * cols, [&](std::size_t i, auto io) HWY_ATTR { io.store(f.value(io.load(x + i)), y + i); });
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const float* from = x + row * cols;
      float* to = y + row * cols;
      ForEach(cols, [&](std::size_t j, auto io)
                        HWY_ATTR { io.store(f.value(hn::Add(io.load(from + j), io.load(bias + j))), to + j); });
    }
  });
}

void column_sums(const float* dy, float* db, std::size_t rows, std::size_t cols) {
  std::size_t row = 0;
  for (; row + 8 <= rows; row += 8) {  // eight rows at a time, so that db is read and written only once per eight rows
    const float* r = dy + row * cols;
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
      const float* p = r + j;
      const Vec s01 = hn::Add(io.load(p), io.load(p + cols));
      const Vec s23 = hn::Add(io.load(p + 2 * cols), io.load(p + 3 * cols));
      const Vec s45 = hn::Add(io.load(p + 4 * cols), io.load(p + 5 * cols));
      const Vec s67 = hn::Add(io.load(p + 6 * cols), io.load(p + 7 * cols));
      io.store(hn::Add(io.load(db + j), hn::Add(hn::Add(s01, s23), hn::Add(s45, s67))), db + j);
    });
  }
  for (; row < rows; ++row) {
    const float* r = dy + row * cols;
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Add(io.load(db + j), io.load(r + j)), db + j); });
  }
}

using Four = hn::FixedTag<float, 4>;

/// The 4 x 4 values at x (stride x_stride), transposed to y.
HWY_INLINE void Transpose4(const float* x, std::size_t x_stride, float* y, std::size_t y_stride) {
  const Four d;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + x_stride);
  const auto c = hn::LoadU(d, x + 2 * x_stride), e = hn::LoadU(d, x + 3 * x_stride);
  const auto ac0 = hn::InterleaveLower(d, a, c), ac1 = hn::InterleaveUpper(d, a, c);  // a0 c0 a1 c1; a2 c2 a3 c3
  const auto be0 = hn::InterleaveLower(d, b, e), be1 = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac0, be0), d, y);
  hn::StoreU(hn::InterleaveUpper(d, ac0, be0), d, y + y_stride);
  hn::StoreU(hn::InterleaveLower(d, ac1, be1), d, y + 2 * y_stride);
  hn::StoreU(hn::InterleaveUpper(d, ac1, be1), d, y + 3 * y_stride);
}

HWY_INLINE std::size_t Smaller(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

void transpose(const float* x, float* y, std::size_t rows, std::size_t cols) {
  constexpr std::size_t tile = 16;  // a cache line of floats; down the rows, so that y is written in 16 streams
  for (std::size_t j0 = 0; j0 < cols; j0 += tile) {
    const std::size_t j1 = Smaller(j0 + tile, cols), j4 = j0 + (j1 - j0) / 4 * 4;
    for (std::size_t i0 = 0; i0 < rows; i0 += tile) {
      const std::size_t i1 = Smaller(i0 + tile, rows), i4 = i0 + (i1 - i0) / 4 * 4;
      for (std::size_t j = j0; j < j4; j += 4)
        for (std::size_t i = i0; i < i4; i += 4) Transpose4(x + i * cols + j, cols, y + j * rows + i, rows);
      for (std::size_t j = j4; j < j1; ++j)
        for (std::size_t i = i0; i < i4; ++i) y[j * rows + i] = x[i * cols + j];
      for (std::size_t j = j0; j < j1; ++j)
        for (std::size_t i = i4; i < i1; ++i) y[j * rows + i] = x[i * cols + j];
    }
  }
}

void copy_rows(const float* x, std::size_t x_stride, float* y, std::size_t y_stride, std::size_t rows,
               std::size_t cols) {
  for (std::size_t row = 0; row < rows; ++row, x += x_stride, y += y_stride)
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR { io.store(io.load(x + j), y + j); });
}

}  // namespace

void fill_matrix(Kernels& k) {
  k.bias_activate = bias_activate;
  k.column_sums = column_sums;
  k.transpose = transpose;
  k.copy_rows = copy_rows;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
