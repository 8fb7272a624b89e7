#include "kern/batch_invariant.h"

#include <algorithm>
#include <array>
#include <memory>

#include "kern/gemm.h"

namespace tril::kern {
namespace {

// For fewer rows than a block: repeats the first row in the remaining places.
void short_block(const Gemm& g) {
  const auto a = std::make_unique_for_overwrite<float[]>(invariant_rows * g.k);
  const auto c = std::make_unique_for_overwrite<float[]>(invariant_rows * g.n);
  for (std::size_t i = 0; i < invariant_rows; ++i) {
    const std::size_t row = i < g.m ? i : 0;
    std::copy_n(g.a + row * g.a_stride, g.k, a.get() + i * g.k);
    if (g.accumulate) std::copy_n(g.c + row * g.c_stride, g.n, c.get() + i * g.n);
  }
  Gemm whole = g;
  whole.m = invariant_rows;
  whole.a = a.get(), whole.a_stride = g.k;
  whole.c = c.get(), whole.c_stride = g.n;
  gemm(whole);
  for (std::size_t i = 0; i < g.m; ++i) std::copy_n(c.get() + i * g.n, g.n, g.c + i * g.c_stride);
}

}  // namespace

void batch_invariant_gemm(const Gemm& g) {
  if (g.transpose_a) return gemm(g);
  for (std::size_t i = 0; i < g.m; i += invariant_rows) {
    Gemm block = g;
    block.m = std::min(invariant_rows, g.m - i);
    block.a = g.a + i * g.a_stride;
    block.c = g.c + i * g.c_stride;
    block.m == invariant_rows ? gemm(block) : short_block(block);
  }
}

const Kernels& batch_invariant(const Kernels& kernels) {
  static const auto copies = [] {
    std::array<Kernels, 16> made;
    std::size_t n = 0;
    const Kernels* floats =
        nullptr;  // the last table whose attention over a cache is the same for few queries and for many
    for (const Kernels* table : tables()) {
      if (table->name != "amx") floats = table;
      made.at(n) = *table;
      made.at(n).cached_attention = floats->cached_attention;
      made.at(n).cached_attention_scratch = floats->cached_attention_scratch;
      made.at(n++).gemm = batch_invariant_gemm;
    }
    return made;
  }();
  for (const Kernels& k : copies)
    if (k.name == kernels.name) return k;
  return kernels;
}

}  // namespace tril::kern
