// Ten AdamW steps of the reference (tests/golden/README.md, training_steps; llama_steps.safetensors and
// mixtral_steps.safetensors are of the same kind, made by make_decoder_steps.py): every loss, gradient norm and final weight.
#include <gtest/gtest.h>

#include <cmath>

#include "model/spec/tied_decoder.h"
#include "ops/experts.h"
#include "support/golden.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace tril::train::golden_training_test {
namespace {

using test::GoldenCase;

/// The tolerance of each precision. In bfloat16 an operand is off by at most 2^-8 of itself: a loss and a gradient
/// norm, means over many operands, by less. The distance that a weight moves in ten steps of Adam does not depend on
/// the gradient's size, so part of it is chance wherever a gradient is small compared to its rounding.
struct Bounds {
  double loss, norm, way;
};
constexpr Bounds in_fp32{1e-4, 1e-3, 1e-3}, in_bf16{6e-3, 4e-2, 0.25};

void run_case(const GoldenCase& g, model::Model& m, nn::Precision precision) {
  const Bounds bounds = precision == nn::Precision::bf16 ? in_bf16 : in_fp32;
  const nlohmann::json& o = g.config().at("optimizer");
  const std::vector<std::int64_t> sizes = g.shape("in.ids");  // [steps, B, T + 1]
  const std::int64_t steps = sizes[0], B = sizes[1], T = sizes[2] - 1;
  g.fill(m.parameters());
  nn::Parameters& p = m.parameters();
  p.set_precision(precision);
  p.refresh(kern::best());

  const kern::Kernels& k = kern::best();
  Optimizer optimizer(p, {.kind = OptimizerKind::adamw,
                          .beta1 = o.at("beta1").get<double>(),
                          .beta2 = o.at("beta2").get<double>(),
                          .epsilon = o.at("eps").get<double>(),
                          .weight_decay = o.at("weight_decay").get<double>()});
  const Schedule schedule{ScheduleKind::inverse_sqrt, o.at("lr").get<double>(), o.at("warmup").get<std::int64_t>(), 0};
  std::vector<Tensor> gradients{lasting_zeros(p.trained_window().count)};
  Grads grads;
  p.bind_gradients(grads, gradients[0]);
  Arena arena;
  Tape tape;
  Context c(arena, k);
  c.set_training(true);

  const std::vector<std::int32_t> ids = g.ids("in.ids");
  const std::vector<float> losses = g.floats("out.loss"), norms = g.floats("out.grad_norm"), rates = g.floats("out.lr");
  for (std::int64_t step = 1; step <= steps; ++step) {
    std::vector<std::int32_t> inputs, targets;
    for (std::int64_t b = 0; b < B; ++b) {
      const auto row = ids.begin() + ((step - 1) * B + b) * (T + 1);
      inputs.insert(inputs.end(), row, row + T);
      targets.insert(targets.end(), row + 1, row + T + 1);
    }
    grads.restart();
    c.set_tape(&tape);
    p.watch(tape);
    model::DecoderInput input;
    input.ids = inputs;
    input.rows = Rows::rectangle(B, T);
    nn::RouterTap routers;
    const float router_aux_loss = o.value("router_aux_loss", 0.0f);
    if (router_aux_loss > 0) input.routers = &routers;
    const Tensor hidden = m.decode(c, input);
    const model::OutputProjection out = m.output();
    ops::LossOptions options;
    options.label_smoothing = o.at("label_smoothing").get<float>();
    Tensor loss = ops::projected_cross_entropy(c, {hidden, out.weight, out.bias}, c.upload(targets), options);
    if (router_aux_loss > 0)
      loss = ops::add(
          c, loss, ops::scale(c, ops::load_balancing_loss(c, routers.logits, m.experts_per_token()), router_aux_loss));
    tape.backward(c, loss, c.upload(std::vector<float>{1}), grads);
    c.set_tape(nullptr);
    grads.finish(c);

    const auto i = static_cast<std::size_t>(step - 1);
    EXPECT_NEAR(host_copy<float>(loss)[0], losses[i], bounds.loss * losses[i]) << "step " << step;
    EXPECT_NEAR(learning_rate(schedule, step), rates[i], 1e-7) << "step " << step;
    optimizer.gather(k, {}, gradients);
    EXPECT_NEAR(optimizer.norm(), norms[i], bounds.norm * norms[i]) << "step " << step;
    optimizer.step(k, {}, gradients[0],
                   {learning_rate(schedule, step), clipping(optimizer.norm(), o.at("clip_norm").get<double>())});
    optimizer.finish_step();
    p.refresh(k);
  }
  for (const nn::Parameter& w : p.all()) {
    // Adam divides a gradient by its own size. Where all gradients are only rounding (biases of keys), the steps are
    // chance; where the first ones are, single values may end elsewhere. So each weight is compared as a whole: its
    // distance from the reference, relative to the distance that the reference has moved.
    const std::vector<float> got = host_copy<float>(w.value), expected = g.floats("out.final." + w.name),
                             start = g.floats("w." + w.name);
    const bool keys_bias_inside = w.name.ends_with("attn.qkv.bias");
    const std::size_t d = got.size() / 3;
    double off = 0, way = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (keys_bias_inside && i >= d && i < 2 * d) continue;
      off += std::pow(double{got[i]} - double{expected[i]}, 2);
      way += std::pow(double{expected[i]} - double{start[i]}, 2);
    }
    EXPECT_LE(std::sqrt(off), bounds.way * std::sqrt(way)) << w.name;
  }
}

class GoldenTraining : public ::testing::TestWithParam<nn::Precision> {};

TEST_P(GoldenTraining, TenStepsOfAdamW) {
  const auto files = test::golden_files("training_steps");
  if (files.empty() && test::other_golden_directory()) GTEST_SKIP() << "no case of this kind";
  ASSERT_FALSE(files.empty()) << "no case of this kind in " << test::golden_directory();
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const GoldenCase g(path);
    model::TiedDecoder m({.vocab_size = g.size("vocab_size"),
                          .d_model = g.size("d_model"),
                          .num_heads = g.size("num_heads"),
                          .d_ff = g.size("d_ff"),
                          .num_layers = g.size("num_layers"),
                          .max_length = g.shape("in.ids")[2] - 1});
    run_case(g, m, GetParam());
  }
}

TEST_P(GoldenTraining, TenStepsOfAdamWForLlama) {
  const GoldenCase g(test::test_dir() + "/train/loop/llama_steps.safetensors");
  const auto m = model::make(JsonObject(g.config().at("model"), "config.json"));
  run_case(g, *m, GetParam());
}

// Only in float32: if two experts are nearly equal for a token, rounding may route it to the other one.
TEST(GoldenTrainingOfExperts, TenStepsOfAdamWForMixtralAndItsBalance) {
  const GoldenCase g(test::test_dir() + "/train/loop/mixtral_steps.safetensors");
  const auto m = model::make(JsonObject(g.config().at("model"), "config.json"));
  run_case(g, *m, nn::Precision::fp32);
}

INSTANTIATE_TEST_SUITE_P(BothPrecisions, GoldenTraining, ::testing::Values(nn::Precision::fp32, nn::Precision::bf16),
                         [](const auto& p) { return p.param == nn::Precision::bf16 ? "bf16" : "fp32"; });

}  // namespace
}  // namespace tril::train::golden_training_test
