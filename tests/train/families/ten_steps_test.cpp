// Ten steps of Adam beside PyTorch, for a family of each mechanism (make_ten_steps.py): the loss and the norm of the gradient in
// every step, and the loss after them.
#include <gtest/gtest.h>

#include "support/golden.h"
#include "train/loss/batch_loss.h"
#include "train/optim/optimizer.h"

namespace tril::train::ten_steps_test {
namespace {

// Row `step` of a tensor [steps, B, length].
std::vector<std::vector<std::int32_t>> rows_of(const test::GoldenCase& g, const std::string& name, std::int64_t step) {
  const std::vector<std::int64_t> shape = g.shape(name);
  const std::vector<std::int32_t> all = g.ids(name);
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int64_t b = 0; b < shape[1]; ++b) {
    const auto begin = all.begin() + (step * shape[1] + b) * shape[2];
    rows.emplace_back(begin, begin + shape[2]);
  }
  return rows;
}

Batch batch_of(const test::GoldenCase& g, std::int64_t step) {
  Batch batch;
  if (g.has("in.ids")) {
    for (const std::vector<std::int32_t>& row : rows_of(g, "in.ids", step))
      batch.append(std::span(row).first(row.size() - 1), std::span(row).subspan(1), std::ssize(batch.lines));
    return batch;
  }
  const auto sources = rows_of(g, "in.source", step), targets = rows_of(g, "in.target", step);
  for (std::size_t i = 0; i < sources.size(); ++i) batch.append(sources[i], targets[i], static_cast<std::int64_t>(i));
  return batch;
}

// Both compute in float32, in different orders. A step of Adam is as long for a gradient that is only rounding as for a large one
// (as of the biases of keys), so differences grow from step to step; its epsilon is large enough to bound that.
constexpr double loss_bound = 2e-4, norm_bound = 5e-3;

class TenSteps : public ::testing::TestWithParam<std::string> {};

TEST_P(TenSteps, AreThoseOfPyTorch) {
  const std::string directory = test::test_dir() + "/train/families/ten_steps/" + GetParam();
  const test::GoldenCase g(directory + "/steps.safetensors");
  const auto m = model::load(model::ModelSource::open(directory));
  nn::Parameters& p = m->parameters();
  const kern::Kernels& k = kern::best();
  p.refresh(k);
  const auto option = [&](const char* name) { return g.config().at(name).get<double>(); };
  Optimizer optimizer(
      p, {.kind = OptimizerKind::adam, .beta1 = option("beta1"), .beta2 = option("beta2"), .epsilon = option("eps")});
  std::vector<Tensor> gradients{lasting_zeros(p.trained_window().count)};
  Grads grads;
  p.bind_gradients(grads, gradients[0]);
  Arena arena;
  Tape tape;
  Context c(arena, k);
  c.set_training(true);
  const std::vector<float> losses = g.floats("out.loss"), norms = g.floats("out.grad_norm");
  ASSERT_EQ(losses.size(), norms.size() + 1);
  for (std::size_t step = 0; step < losses.size(); ++step) {
    const Batch batch = batch_of(g, static_cast<std::int64_t>(step));
    grads.restart();
    c.set_tape(&tape);
    p.watch(tape);
    const Tensor loss = batch_loss(c, *m, batch, {.router_aux_loss = option("router_aux_loss")},
                                   static_cast<double>(batch.target_tokens()));
    tape.backward(c, loss, c.upload(std::vector<float>{1}), grads);
    c.set_tape(nullptr);
    grads.finish(c);
    EXPECT_NEAR(host_copy<float>(loss)[0], losses[step], loss_bound * losses[step]) << "step " << step + 1;
    if (step == norms.size()) break;
    optimizer.gather(k, {}, gradients);
    EXPECT_NEAR(optimizer.norm(), norms[step], norm_bound * norms[step]) << "step " << step + 1;
    optimizer.step(k, {}, gradients[0], {option("lr"), clipping(optimizer.norm(), option("clip_norm"))});
    optimizer.finish_step();
    p.refresh(k);
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachMechanism, TenSteps,
                         ::testing::Values("llama", "qwen3", "gemma3_text", "qwen3_moe", "deepseek_v2", "deepseek_v3",
                                           "gpt_oss", "qwen3_next", "lfm2", "bloom", "gpt_neox", "cohere", "t5", "umt5",
                                           "t5gemma"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tril::train::ten_steps_test
