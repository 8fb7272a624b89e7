// state_space against a plain loop in double, its steps against whole rows, and its result on several threads.
#include "ops/state_space.h"

#include <cmath>

#include "support/op_case.h"

namespace tril::test::state_space_test {
namespace {

struct Sizes {
  std::int64_t groups, heads, d_state, d_head;
};

std::vector<Shape> shapes_of(std::int64_t N, const Sizes& s) {
  return {{N, s.heads * s.d_head},
          {N, s.groups * s.d_state},
          {N, s.groups * s.d_state},
          {N, s.heads},
          {s.heads},
          {s.heads},
          {s.heads}};
}

ops::StateSpace inputs(std::span<const Tensor> x) {
  return {.x = x[0], .b = x[1], .c = x[2], .raw = x[3], .bias = x[4], .log_rate = x[5], .skip = x[6]};
}

OpCase scan_case(const std::vector<std::int32_t>& lengths, const Sizes& s) {
  const Rows rows = Rows::of_lengths(lengths);
  return {.name = fmt::format("state space, {} rows, {} heads in {} groups, d_state {}, d_head {}", lengths.size(),
                              s.heads, s.groups, s.d_state, s.d_head),
          .shapes = shapes_of(rows.tokens(), s),
          .run = [=](Context& c, std::span<const Tensor> x) { return ops::state_space(c, inputs(x), s.groups, rows); },
          .reference =
              [=](std::span<const Doubles> x) {
                const auto of_head = [&](std::size_t i, std::int64_t h) { return x[i][static_cast<std::size_t>(h)]; };
                Doubles y(static_cast<std::size_t>(rows.tokens() * s.heads * s.d_head));
                for (std::int64_t r = 0; r < rows.count(); ++r)
                  for (std::int64_t h = 0; h < s.heads; ++h) {
                    const std::int64_t group = h / (s.heads / s.groups) * s.d_state, keys = s.groups * s.d_state;
                    Doubles S(static_cast<std::size_t>(s.d_state * s.d_head));
                    for (std::int64_t t = rows.begin(r); t < rows.end(r); ++t) {
                      const double dt = std::log1p(std::exp(at(x[3], t, h, s.heads) + of_head(4, h)));
                      const double decay = std::exp(-std::exp(of_head(5, h)) * dt);
                      for (std::int64_t j = 0; j < s.d_head; ++j) {
                        const double in = at(x[0], t, h * s.d_head + j, s.heads * s.d_head);
                        double sum = of_head(6, h) * in;
                        for (std::int64_t i = 0; i < s.d_state; ++i) {
                          double& state = S[static_cast<std::size_t>(i * s.d_head + j)];
                          state = decay * state + dt * at(x[1], t, group + i, keys) * in;
                          sum += state * at(x[2], t, group + i, keys);
                        }
                        y[static_cast<std::size_t>((t * s.heads + h) * s.d_head + j)] = sum;
                      }
                    }
                  }
                return y;
              },
          .columns = {0, 1, 2, 3},
          .tolerance = 3e-5,
          .gradient_tolerance = 2e-4};
}

TEST(StateSpace, DecaysAndAdds) {
  for (const std::vector<std::int32_t>& lengths : {std::vector<std::int32_t>{5}, {3, 0, 7}, {1, 1}})
    for (const Sizes& s : {Sizes{1, 1, 1, 1}, Sizes{2, 4, 3, 5}, Sizes{1, 2, 9, 19}}) check_op(scan_case(lengths, s));
  check_op(scan_case({130, 2}, {1, 1, 2, 3}));  // more tokens than the backward pass holds states of
}

std::vector<Tensor> normal_inputs(Context& c, std::int64_t N, const Sizes& s) {
  std::vector<Tensor> x;
  for (const Shape& shape : shapes_of(N, s))
    x.push_back(c.upload<float>(normal_values(shape.count(), 1 + x.size()), shape));
  return x;
}

// Chunks of 1, 5 and 2 tokens of each row, with the row's state at the end of a wider table.
TEST(StateSpace, StepByStepEqualsAllAtOnce) {
  for (const kern::Kernels* kernels : kern::tables())
    for (const Sizes& s : {Sizes{1, 1, 1, 1}, Sizes{2, 4, 8, 19}}) {
      SCOPED_TRACE(kernels->name);
      Arena arena;
      Context c(arena, *kernels);
      const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{40, 8});
      const std::vector<Tensor> x = normal_inputs(c, rows.tokens(), s);
      const auto all = host_copy<float>(ops::state_space(c, inputs(x), s.groups, rows));
      const std::int64_t size = ops::state_space_state(s.heads, s.d_state, s.d_head), width = s.heads * s.d_head;
      const Tensor wide = c.zeros({3, size + 3});
      for (std::int64_t r = 0; r < rows.count(); ++r)
        for (std::int32_t begin = 0, n = 1; begin < rows.length(r); begin += n) {
          n = std::min(begin == 0 ? 1 : begin == 1 ? 5 : 2, rows.length(r) - begin);
          const std::int64_t first = rows.begin(r) + begin;
          std::vector<Tensor> part = x;
          for (std::size_t i = 0; i < 4; ++i) part[i] = x[i].rows(first, first + n);
          Rows next;
          next.append(n, begin);
          const std::vector<std::int32_t> slots{static_cast<std::int32_t>(2 - r)};
          const auto y =
              host_copy<float>(ops::state_space(c, inputs(part), s.groups, next, {wide.columns(1, 1 + size), slots}));
          for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_NEAR(y[i], all[static_cast<std::size_t>(first * width) + i], 3e-5);
        }
    }
}

TEST(StateSpace, ThreadsChangeNoBit) {
  Arena arena;
  Context c(arena);
  const Sizes s{2, 4, 8, 19};
  const Rows rows = Rows::of_lengths(std::vector<std::int32_t>{9, 4, 12});
  const std::vector<Tensor> x = normal_inputs(c, rows.tokens(), s);
  const auto run = [&] { return host_copy<float>(ops::state_space(c, inputs(x), s.groups, rows)); };
  const auto alone = run();
  Team team(3);
  c.set_team(&team);
  EXPECT_EQ(run(), alone);
}

TEST(StateSpace, Errors) {
  Arena arena;
  Context c(arena);
  const Rows rows = Rows::rectangle(3, 1);
  std::vector<Tensor> x = normal_inputs(c, 3, {1, 2, 3, 4});
  const auto run = [&](std::int64_t groups, const ops::States& states = {}) {
    return [&, groups, states] { ops::state_space(c, inputs(x), groups, rows, states); };
  };
  expect_error(run(3), "b [3, 3] of 3 groups");
  expect_error(run(1, {c.zeros({3, 6}), std::vector<std::int32_t>{0, 1, 2}}), "states of 6 values, expected 24");
  x[6] = c.zeros({3});
  expect_error(run(1), "skip");
}

}  // namespace
}  // namespace tril::test::state_space_test
