// The load-balancing loss of mixtures of experts, added to the loss of the targets.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model_io/source/registry.h"
#include "ops/experts.h"
#include "support/training.h"
#include "train/loop/fine_tune.h"
#include "train/loss/hidden_states.h"

namespace tril::train {
namespace {

std::unique_ptr<model::Model> small(const nlohmann::json& config) {
  auto m = model::make(JsonObject(config, "config.json"));
  m->parameters().allocate();
  m->parameters().initialise(4);
  m->parameters().refresh(kern::best());
  return m;
}

const nlohmann::json mixtral{{"model_type", "mixtral"},  {"vocab_size", 40},       {"hidden_size", 16},
                             {"intermediate_size", 12},  {"num_hidden_layers", 2}, {"num_attention_heads", 2},
                             {"num_key_value_heads", 1}, {"num_local_experts", 4}, {"initializer_range", 0.5},
                             {"num_experts_per_tok", 2}};

// A text as for language models: each token's target is the next token.
Batch some_text() {
  Batch b;
  const std::vector<std::int32_t> first{5, 9, 3, 7, 11}, next{9, 3, 7, 11, 2}, other{8, 1, 30}, after{1, 30, 6};
  b.append(first, next, 0);
  b.append(other, after, 1);
  return b;
}

TEST(RouterBalance, WeighsByTheBatchsShareOfTheUpdate) {
  const auto m = small(mixtral);
  const Batch b = some_text();
  Arena arena;
  Context c(arena);
  nn::RouterTap routers;
  hidden_states(c, *m, b, nullptr, &routers);
  ASSERT_EQ(routers.logits.size(), 2u);
  EXPECT_EQ(routers.logits[1].shape(), (Shape{8, 4}));
  const float balance = host_copy<float>(ops::load_balancing_loss(c, routers.logits, 2))[0];
  EXPECT_GT(balance, 2) << "of two experts a token, shared evenly";
  for (const double normalizer : {8.0, 32.0}) {
    const auto loss = [&](double weight) {
      return host_copy<float>(batch_loss(c, *m, b, {.router_aux_loss = weight}, normalizer))[0];
    };
    EXPECT_NEAR(loss(0.5) - loss(0), 0.5 * 8 / normalizer * static_cast<double>(balance), 1e-5);
  }
  m->set_gradient_checkpointing(true);
  EXPECT_TRUE(contains(error_of([&] { batch_loss(c, *m, b, {.router_aux_loss = 0.5}, 8); }), "gradient checkpointing"));
}

TEST(RouterBalance, UpdatesShareTheWorkOut) {
  const auto m = small(mixtral);
  Optimizer optimizer(m->parameters(), OptimizerOptions{});
  WorkersOptions options;
  options.loss.router_aux_loss = 10;
  Workers workers(*m, optimizer, options);
  const Batch b = some_text();
  const auto balance = [&] {
    Arena arena;
    Context c(arena);
    nn::RouterTap routers;
    hidden_states(c, *m, b, nullptr, &routers);
    return host_copy<float>(ops::load_balancing_loss(c, routers.logits, 2))[0];
  };
  const float before = balance();
  for (std::int64_t u = 1; u <= 60; ++u) workers.update({&b, 1}, u, 1e-2);
  EXPECT_LT(balance() - 2, 0.5f * (before - 2));
}

TEST(RouterBalance, IsRefusedWhereThereAreNoExperts) {
  const TemporaryDirectory dir;
  nlohmann::json llama = mixtral;
  llama["model_type"] = "llama";
  llama.erase("num_local_experts"), llama.erase("num_experts_per_tok");
  model::save(*small(llama), dir.path("llama"));
  TrainOptions o = test::small_options(dir);
  o.model.arch = "gpt2", o.tune.init_from = dir.path("llama");
  EXPECT_NO_THROW(build_tuned_model(o, *open_initial_model(o.tune)));
  o.learning.router_aux_loss = 0.01;
  EXPECT_TRUE(
      contains(error_of([&] { build_tuned_model(o, *open_initial_model(o.tune)); }), "a llama model has no experts"));
}

}  // namespace
}  // namespace tril::train
