// Gathers rows of a table by number, and the gradient.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/embedding.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

void gather(const float* table, const std::int32_t* ids, float scale, float* y, std::size_t rows, std::size_t cols) {
  const Vec s = hn::Set(Floats(), scale);
  for (std::size_t row = 0; row < rows; ++row, y += cols) {
    const float* from = table + as_size(ids[row]) * cols;
    ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Mul(s, io.load(from + j)), y + j); });
  }
}

void scatter_add(float* d_table, const std::int32_t* ids, float scale, const float* dy, std::int32_t skip,
                 std::size_t rows, std::size_t cols) {
  const Vec s = hn::Set(Floats(), scale);
  for (std::size_t row = 0; row < rows; ++row, dy += cols) {
    if (ids[row] == skip) continue;
    float* to = d_table + as_size(ids[row]) * cols;
    ForEach(cols, [&](std::size_t j, auto io)
                      HWY_ATTR { io.store(hn::MulAdd(s, io.load(dy + j), io.load(to + j)), to + j); });
  }
}

void add_gathered(const float* x, const float* table, const std::int32_t* positions, float* y, std::size_t rows,
                  std::size_t cols) {
  for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols) {
    const float* from = table + as_size(positions[row]) * cols;
    ForEach(cols,
            [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Add(io.load(x + j), io.load(from + j)), y + j); });
  }
}

}  // namespace

void fill_embedding(Kernels& k) {
  k.gather = gather;
  k.scatter_add = scatter_add;
  k.add_gathered = add_gathered;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
