// Rotation by position on every table, against a loop of doubles.
#include "kern/rotary.h"

#include "kern/support.h"

namespace tril::kern {
namespace {

class RotaryKernel : public KernelTest {};

std::vector<double> twin(const Rotary& r, std::vector<double> y) {
  for (std::size_t t = 0; t < r.tokens; ++t)
    for (std::size_t h = 0; h < r.heads; ++h) {
      const float* const x = r.x + t * r.x_stride + h * r.d;
      double* const to = y.data() + t * r.y_stride + h * r.d;
      const float* const row = r.table + static_cast<std::size_t>(r.positions[t]) * r.dim;
      std::vector<double> turned(x, x + r.d);
      for (std::size_t i = 0; i < r.dim / 2; ++i) {
        const std::size_t a = r.interleaved ? 2 * i : i, b = r.interleaved ? 2 * i + 1 : i + r.dim / 2;
        const double c = row[i], s = r.transposed ? -row[r.dim / 2 + i] : row[r.dim / 2 + i];
        turned[a] = c * x[a] - s * x[b];
        turned[b] = s * x[a] + c * x[b];
      }
      for (std::size_t j = 0; j < r.d; ++j) to[j] = turned[j] + (r.accumulate ? to[j] : 0);
    }
  return y;
}

TEST_P(RotaryKernel, AgreesWithItsTwin) {
  for (const auto& [d, dim] : {std::pair<std::size_t, std::size_t>{2, 2},
                               {3, 2},
                               {6, 6},
                               {12, 12},
                               {16, 4},
                               {20, 10},
                               {33, 32},
                               {64, 64},
                               {80, 32},
                               {96, 66},
                               {128, 128}})
    for (const std::size_t heads : {std::size_t{1}, std::size_t{3}})
      for (std::size_t slack = 0; slack < 4; ++slack)
        for (int flags = 0; flags < 8; ++flags) {
          const std::size_t tokens = 5, positions = 7, wide = heads * d + slack;
          Floats32 x(tokens * wide - slack, slack), y(tokens * heads * d, slack ^ 1), table(positions * dim, slack ^ 2);
          fill_normal(x, 1);
          fill_normal(y, 2);
          fill_normal(table, 3);
          Guarded<std::int32_t> at(tokens, slack);
          for (std::size_t t = 0; t < tokens; ++t) at[t] = static_cast<std::int32_t>((3 * t + 2) % positions);
          Rotary r;
          r.x = x.data(), r.y = y.data(), r.x_stride = wide, r.y_stride = heads * d;
          r.table = table.data(), r.positions = at.data();
          r.tokens = tokens, r.heads = heads, r.d = d, r.dim = dim;
          r.interleaved = flags & 1, r.transposed = flags & 2, r.accumulate = flags & 4;
          const auto expected = twin(r, {y.data(), y.data() + y.size()});
          k.rotary(r);
          const std::string name = std::to_string(d) + "/" + std::to_string(dim) + ", flags " + std::to_string(flags);
          expect_close(y, expected, 1e-6, name);
          if (r.accumulate) continue;
          Rotary in_place = r;
          in_place.y = x.data(), in_place.y_stride = wide;
          const auto before = x.copy();
          const auto turned = twin(in_place, {before.begin(), before.end()});
          k.rotary(in_place);
          expect_close(x, turned, 1e-6, name + " in place");
        }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RotaryKernel, every_table(), table_name);

}  // namespace
}  // namespace tril::kern
