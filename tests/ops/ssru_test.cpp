// The recurrence of an SSRU against plain loops in double.
#include "ops/ssru.h"

#include <cmath>

#include "support/op_case.h"

namespace tril::test {
namespace {

OpCase ssru_case(const std::vector<std::int32_t>& lengths, std::int64_t D) {
  const Rows rows = Rows::of_lengths(lengths);
  return {.name = fmt::format("ssru, {} rows, {} columns", lengths.size(), D),
          .shapes = {{rows.tokens(), D}, {rows.tokens(), D}},
          .run = [=](Context& c, std::span<const Tensor> x) { return ops::ssru(c, x[0], x[1], rows); },
          .reference =
              [=](std::span<const Doubles> x) {
                Doubles y(x[0].size());
                for (std::int64_t r = 0; r < rows.count(); ++r)
                  for (std::int64_t d = 0; d < D; ++d) {
                    double cell = 0;
                    for (std::int32_t t = rows.begin(r); t < rows.end(r); ++t) {
                      const double keep = 1 / (1 + std::exp(-at(x[1], t, d, D)));
                      cell = keep * cell + (1 - keep) * at(x[0], t, d, D);
                      y[static_cast<std::size_t>(t * D + d)] = std::max(cell, 0.0);
                    }
                  }
                return y;
              },
          .columns = {0, 1}};
}

TEST(Ssru, RemembersWhatItKeeps) {
  for (const std::int64_t D : {1, 3, 16, 33}) check_op(ssru_case({4, 1, 0, 7}, D));
  check_op(ssru_case({200}, 2));
}

TEST(Ssru, StepByStepEqualsAllAtOnce) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const std::int64_t D : {1, 8, 37}) {
      Arena arena;
      Context c(arena, *kernels);
      constexpr std::int32_t T = 9;
      const Tensor x = c.upload<float>(normal_values(2 * T * D, 1), {2 * T, D}),
                   f = c.upload<float>(normal_values(2 * T * D, 2), {2 * T, D});
      const std::vector<float> whole = host_copy<float>(ops::ssru(c, x, f, Rows::rectangle(2, T)));
      // Rows of 9 tokens in parts of 1, 0, 5 and 3; their states lie in reverse, with a stranger between them.
      const Tensor states = c.zeros({3, D});
      const std::vector<std::int32_t> slots{2, 0};
      std::int32_t done = 0;
      for (const std::int32_t n : {1, 0, 5, 3}) {
        std::vector<float> px, pf;
        for (int r = 0; r < 2; ++r)
          for (const auto& [from, to] : {std::pair{&x, &px}, {&f, &pf}}) {
            const std::vector<float> part = host_copy<float>(from->rows(r * T + done, r * T + done + n));
            to->insert(to->end(), part.begin(), part.end());
          }
        const Tensor y = ops::ssru(c, c.upload<float>(px, {2 * n, D}), c.upload<float>(pf, {2 * n, D}),
                                   Rows::rectangle(2, n), {states, slots});
        const std::vector<float> values = host_copy<float>(y);
        for (int r = 0; r < 2; ++r)
          for (std::int64_t i = 0; i < n * D; ++i)
            EXPECT_EQ(values[static_cast<std::size_t>(r * n * D + i)],
                      whole[static_cast<std::size_t>((r * T + done) * D + i)]);
        done += n;
      }
      EXPECT_EQ(host_copy<float>(states.rows(1, 2)), std::vector<float>(static_cast<std::size_t>(D), 0.0f));
    }
}

TEST(Ssru, WhatDoesNotFitIsRefused) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({4, 3}), states = c.zeros({2, 3});
  const std::vector<std::int32_t> slots{0, 1}, beyond{0, 2};
  expect_error([&] { ops::ssru(c, x, c.zeros({4, 2}), Rows::rectangle(2, 2)); }, "ssru: f");
  expect_error([&] { ops::ssru(c, x, x, Rows::rectangle(1, 3)); }, "4 tokens in rows of 3");
  expect_error([&] { ops::ssru(c, x, x, Rows::rectangle(2, 2), {states, beyond}); }, "slot 2 of 2");
  expect_error([&] { ops::ssru(c, x, x, Rows::rectangle(2, 2), {c.zeros({2, 4}), slots}); }, "states of 4 values");
}

}  // namespace
}  // namespace tril::test
