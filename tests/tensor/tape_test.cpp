// Tape and Grads: what is kept, when it is freed, and where gradients go.
#include "tensor/tape.h"

#include <gtest/gtest.h>

#include <memory>

#include "tensor/context.h"

namespace tril {
namespace {

// y = 2 x, its closure holding a token and a tensor of its own.
Tensor twice(Context& c, const Tensor& x, std::shared_ptr<int> token = {}, const Tensor& saved = {}) {
  Tensor y = c.empty(x.shape());
  c.kernels().scale(2, x.data<float>(), y.data<float>(), static_cast<std::size_t>(x.count()));
  if (c.tape())
    c.tape()->record("twice", {&x}, y, [x, token, saved](Context& k, const Tensor& dy, Grads& d) {
      auto dx = d.into(k, x);
      const auto n = static_cast<std::size_t>(dy.count());
      if (!dx.accumulate) k.kernels().fill(0, dx.grad.data<float>(), n);
      k.kernels().axpy(2, dy.data<float>(), dx.grad.data<float>(), n);
    });
  return y;
}

class TapeTest : public testing::Test {
 protected:
  void start() { c.set_tape(&tape), tape.watch(x); }

  Arena arena;
  Context c{arena};
  Tape tape;
  Grads grads;
  const Tensor x = c.upload<float>({1, 2, 3}), ones = c.upload<float>({1, 1, 1});
};

TEST_F(TapeTest, ClosuresAreDestroyedWhateverHappens) {
  const auto token = std::make_shared<int>();
  start();
  const Tensor y = twice(c, twice(c, x, token), token);
  EXPECT_EQ(token.use_count(), 3);
  EXPECT_EQ(tape.size(), 2u);
  tape.backward(c, y, ones, grads);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(host_copy<float>(grads.get(x)), (std::vector<float>{4, 4, 4}));

  tape.watch(x);
  twice(c, x, token);
  tape.clear();
  EXPECT_EQ(token.use_count(), 1) << "clear";
  {
    Tape other;
    c.set_tape(&other);
    other.watch(x);
    twice(c, x, token);
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1) << "the tape's end";
}

TEST_F(TapeTest, NobodyWantsItNothingIsKept) {
  const auto token = std::make_shared<int>();
  c.set_tape(&tape);
  const Tensor y = twice(c, twice(c, x, token), token);
  EXPECT_EQ(tape.size(), 0u);
  EXPECT_EQ(tape.closure_bytes(), 0u);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_THROW(tape.backward(c, y, ones, grads), Error);
}

TEST_F(TapeTest, SavedTensorsGoAsTheWalkPasses) {
  start();
  constexpr int layers = 6;
  constexpr std::int64_t big = 100000;
  Tensor h = x;
  for (int i = 0; i < layers; ++i) h = twice(c, h, {}, c.empty({big}));
  // The last recorded node runs first: when the first one runs, the others' tensors are freed.
  std::size_t live_at_first = 0;
  Tape watched;
  c.set_tape(&watched);
  watched.watch(x);
  Tensor y = c.empty({3});
  watched.record("first", {&x}, y, [&, in = x](Context& k, const Tensor&, Grads& d) {
    live_at_first = k.arena().stats().live_bytes;
    auto dx = d.into(k, in);
    k.kernels().fill(0, dx.grad.data<float>(), 3);
  });
  const std::size_t before = arena.stats().live_bytes;
  for (int i = 0; i < layers; ++i) y = twice(c, y, {}, c.empty({big}));
  EXPECT_GT(arena.stats().live_bytes - before, layers * big * sizeof(float));
  watched.backward(c, y, ones, grads);
  EXPECT_LT(live_at_first, before + big);
  c.set_tape(nullptr);
}

TEST_F(TapeTest, RepeatedStepsCostTheSame) {
  start();
  std::uint64_t growths = 0;
  std::size_t bytes = 0;
  for (int step = 0; step < 10; ++step) {
    tape.clear(), grads.restart();
    tape.watch(x);
    Tensor h = x;
    for (int i = 0; i < 3000; ++i) h = twice(c, h, {}, ones);  // several pages of closures
    bytes = tape.closure_bytes();
    tape.backward(c, h, ones, grads);
    EXPECT_EQ(tape.closure_bytes(), 0u);
    if (step > 1) {
      EXPECT_EQ(arena.stats().growths, growths);
    }
    growths = arena.stats().growths;
  }
  EXPECT_GT(bytes, std::size_t{64} << 10);
}

TEST_F(TapeTest, GradientsAddUpWhereAValueIsUsedTwice) {
  start();
  const Tensor a = twice(c, x), b = twice(c, x);
  const Tensor y = c.empty({3});
  tape.record("sum", {&a, &b}, y, [a, b](Context& k, const Tensor& dy, Grads& d) {
    for (const Tensor& t : {a, b}) {
      auto to = d.into(k, t);
      EXPECT_FALSE(to.accumulate);
      k.kernels().scale(1, dy.data<float>(), to.grad.data<float>(), 3);
    }
  });
  tape.backward(c, y, ones, grads);
  EXPECT_EQ(host_copy<float>(grads.get(x)), (std::vector<float>{4, 4, 4}));
}

TEST_F(TapeTest, BoundGradientsLiveWhereTheyAreBound) {
  const Tensor memory = c.upload<float>({9, 9, 9}), unused = c.upload<float>({5}), unused_memory = c.upload<float>({7});
  grads.bind(x, memory);
  grads.bind(unused, unused_memory);
  for (int step = 0; step < 2; ++step) {
    grads.restart();
    for (int part = 0; part < 2; ++part) {  // two batches of one update
      start();
      tape.backward(c, twice(c, x), ones, grads);
    }
    grads.finish(c);
    EXPECT_EQ(host_copy<float>(memory), (std::vector<float>{4, 4, 4})) << "step " << step;
    EXPECT_EQ(host_copy<float>(unused_memory), std::vector<float>{0}) << "nobody used it: zero";
  }
  EXPECT_THROW(grads.bind(x, unused_memory), Error);
}

TEST_F(TapeTest, AViewsGradientIsTheViewOfTheGradient) {
  start();
  const Tensor y = twice(c, x.reshape({3, 1}).rows(1, 2));
  tape.backward(c, y, c.upload<float>(std::vector<float>{5}, {1, 1}), grads);
  EXPECT_EQ(host_copy<float>(grads.get(x)), (std::vector<float>{0, 10, 0}));
}

TEST_F(TapeTest, TheContextMustRecordOnTheTapeThatIsWalked) {
  start();
  const Tensor y = twice(c, x);
  c.set_tape(nullptr);
  EXPECT_THROW(tape.backward(c, y, ones, grads), Error);
}

TEST_F(TapeTest, AnEmptyWalkOfAWatchedInput) {
  start();
  tape.backward(c, x, ones, grads);
  EXPECT_EQ(host_copy<float>(grads.get(x)), (std::vector<float>{1, 1, 1}));
}

// y = a + b.
Tensor sum_of(Context& c, const Tensor& a, const Tensor& b) {
  Tensor y = c.empty(a.shape());
  const auto n = static_cast<std::size_t>(a.count());
  c.kernels().copy(a.data<float>(), y.data<float>(), n * sizeof(float));
  c.kernels().axpy(1, b.data<float>(), y.data<float>(), n);
  c.tape()->record("sum", {&a, &b}, y, [a, b](Context& k, const Tensor& dy, Grads& d) {
    for (const Tensor* x : {&a, &b}) {
      auto dx = d.into(k, *x);
      const auto count = static_cast<std::size_t>(dy.count());
      if (!dx.accumulate) k.kernels().fill(0, dx.grad.data<float>(), count);
      k.kernels().axpy(1, dy.data<float>(), dx.grad.data<float>(), count);
    }
  });
  return y;
}

// A gradient is announced after the first op that uses its tensor has run backward, even if that op adds nothing.
TEST_F(TapeTest, GradientsAreAnnouncedAsSoonAsTheyAreComplete) {
  const Tensor late = c.upload<float>({0, 0, 0}), unused = c.upload<float>({0, 0, 0}),
               silent = c.upload<float>({5, 5, 5});
  start();
  std::vector<std::pair<std::uint64_t, std::size_t>> said, expected{{unused.id(), 2}, {late.id(), 1}, {x.id(), 0}};
  std::vector<Tensor> memory;
  for (const Tensor& p : {x, late, unused, silent}) {
    tape.watch(p);
    memory.push_back(c.upload<float>({9, 9, 9}));
    grads.bind(p, memory.back());
  }
  grads.restart();
  EXPECT_TRUE(tape.wants(late) && tape.wants(silent));  // which changes nothing
  const Tensor y = sum_of(c, twice(c, x), late);
  twice(c, unused);  // the result leads nowhere
  grads.announce([&](std::uint64_t id) { said.emplace_back(id, tape.size()); });
  tape.backward(c, y, ones, grads);
  expected.emplace_back(silent.id(), 0);
  EXPECT_EQ(said, expected);
  EXPECT_EQ(host_copy<float>(memory[0]), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(host_copy<float>(memory[2]), (std::vector<float>{0, 0, 0})) << "what got nothing is zero";
  EXPECT_EQ(host_copy<float>(memory[3]), (std::vector<float>{0, 0, 0}));

  grads.restart();
  c.set_tape(&tape);
  start();
  tape.backward(c, twice(c, x), ones, grads);
  EXPECT_EQ(said.size(), 4u) << "of one walk alone";
}

TEST_F(TapeTest, AGradientThatComesTooLateIsAnError) {
  start();
  const Tensor memory = c.upload<float>({0, 0, 0}), p = c.upload<float>({1, 1, 1});
  tape.watch(p);
  grads.bind(p, memory);
  // An op that gives a gradient to what it has not named, below one that has.
  const Tensor y = c.upload<float>({1, 1, 1});
  tape.record_always("sly", y, [p](Context& k, const Tensor& dy, Grads& d) { d.into(k, p), static_cast<void>(dy); });
  const Tensor z = sum_of(c, y, p);
  grads.announce([](std::uint64_t) {});
  EXPECT_THROW(tape.backward(c, z, ones, grads), Error);
}

}  // namespace
}  // namespace tril
