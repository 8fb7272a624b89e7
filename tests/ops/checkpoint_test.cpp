// checkpoint: the same value and gradients as the block itself, with less kept for the backward pass.
#include "support/op_case.h"

namespace tril::test {
namespace {

struct Network {
  Tensor x, w1, w2;
  std::int64_t layers = 4;

  Network(Context& c, std::int64_t N, std::int64_t D)
      : x(c.upload<float>(normal_values(N * D, 1), {N, D})),
        w1(c.upload<float>(normal_values(4 * D * D, 2), {4 * D, D})),
        w2(c.upload<float>(normal_values(4 * D * D, 3), {D, 4 * D})) {}

  struct Result {
    std::vector<float> y, dx, dw1, dw2;
    std::size_t live_between = 0;  // bytes that the tape keeps after the forward pass
    std::uint64_t drawn = 0;       // streams of random numbers
  };

  Result run(Context& c, bool checkpointing) {
    Tape tape;
    Grads grads;
    for (const Tensor& t : {x, w1, w2}) tape.watch(t);
    c.set_tape(&tape);
    c.set_rng(Rng(9));
    const std::size_t before = c.arena().stats().live_bytes;
    const auto block = [this](Context& k, const Tensor& h) {
      const Tensor up = ops::dropout(k, ops::linear(k, h, {w1, {}}, {}, {.activation = ops::Activation::gelu}), 0.2f);
      return ops::scale(k, ops::linear(k, up, {w2, {}}, {}, {.residual = h, .dropout = 0.1f}), 0.05f);
    };
    Tensor h = x;
    for (std::int64_t i = 0; i < layers; ++i) h = checkpointing ? ops::checkpoint(c, block, h) : block(c, h);
    Result r;
    r.live_between = c.arena().stats().live_bytes - before;
    r.y = host_copy<float>(h);
    tape.backward(c, h, c.upload<float>(normal_values(h.count(), 4), h.shape()), grads);
    c.set_tape(nullptr);
    r.dx = host_copy<float>(grads.get(x)), r.dw1 = host_copy<float>(grads.get(w1)),
    r.dw2 = host_copy<float>(grads.get(w2));
    r.drawn = c.rng().position();
    return r;
  }
};

TEST(Checkpoint, SameNumbersInLessMemory) {
  for (const kern::Kernels* kernels : kern::tables()) {
    Arena arena;
    Context c(arena, *kernels);
    c.set_training(true);
    Network network(c, 50, 8);
    const auto plain = network.run(c, false), again = network.run(c, true);
    EXPECT_EQ(plain.y, again.y);
    EXPECT_EQ(plain.drawn, again.drawn) << "what follows draws the same numbers";
    EXPECT_EQ(plain.dx, again.dx);
    EXPECT_EQ(plain.dw1, again.dw1);
    EXPECT_EQ(plain.dw2, again.dw2);
    EXPECT_LT(again.live_between, plain.live_between / 4);
  }
}

TEST(Checkpoint, ServingKeepsNothing) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(normal_values(6, 1), {2, 3});
  const Tensor y = ops::checkpoint(
      c, [](Context& k, const Tensor& h) { return ops::scale(k, h, 2); }, x);
  EXPECT_EQ(host_copy<float>(y), host_copy<float>(ops::scale(c, x, 2)));
}

TEST(Checkpoint, AnErrorInsideLeavesTheContextAsItWas) {
  Arena arena;
  Context c(arena);
  Tape tape;
  c.set_tape(&tape);
  const auto broken = [](Context& k, const Tensor& h) { return ops::add(k, h, k.zeros({1})); };
  EXPECT_THROW(ops::checkpoint(c, broken, c.zeros({2, 3})), Error);
  EXPECT_EQ(c.tape(), &tape);
  c.set_tape(nullptr);
}

TEST(Checkpoint, ABlockThatPassesItsInputOn) {
  Arena arena;
  Context c(arena);
  Tape tape;
  Grads grads;
  const Tensor x = c.upload<float>(normal_values(6, 1), {2, 3});
  tape.watch(x);
  c.set_tape(&tape);
  const Tensor h = ops::scale(c, x, 3);
  const Tensor y = ops::checkpoint(
      c, [](Context&, const Tensor& t) { return t; }, h);
  tape.backward(c, y, c.upload<float>(std::vector<float>(6, 1.0f), {2, 3}), grads);
  c.set_tape(nullptr);
  EXPECT_EQ(host_copy<float>(grads.get(x)), std::vector<float>(6, 3.0f));
}

}  // namespace
}  // namespace tril::test
