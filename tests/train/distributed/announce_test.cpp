// Grads::announce: a gradient that is announced as complete may be sent while the backward pass still runs. Tested for
// every family of models, and for all training features that affect the backward pass.
#include <gtest/gtest.h>

#include <map>

#include "support/random_model.h"
#include "support/small_configs.h"
#include "support/small_marian.h"
#include "train/distributed/workers.h"

namespace tril::train {
namespace {

using testing::random_model;

Batch random_pairs(std::uint64_t seed, bool language_model) {
  RandomSequence random(seed, 2);
  Batch b;
  for (std::int64_t line = 0; line < 5; ++line) {
    const auto row = [&](std::uint64_t length) {
      std::vector<std::int32_t> ids(length);
      for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.below(12));
      return ids;
    };
    const std::uint64_t n = 1 + random.below(7);
    b.append(row(language_model ? n : 1 + random.below(7)), row(n), line);
  }
  return b;
}

struct Said {
  std::vector<std::string> names;          // in order
  std::vector<std::size_t> nodes_to_come;  // of the tape, at that time
};

// Runs two backward passes, as an update does, and checks the announcements of the second.
Said expect_told_what_comes_out(model::Model& m, const LossSettings& settings, std::uint64_t seed,
                                const std::function<void(Batch&)>& change = {}) {
  const nn::Parameters& weights = m.parameters();
  std::map<std::uint64_t, const nn::Parameter*> trained;
  for (const nn::Parameter& p : weights.all())
    if (p.trainable) trained[p.value.id()] = &p;

  Said said;
  std::map<std::uint64_t, std::vector<float>> at_that_time;
  const auto run = [&](bool announces) {
    Arena arena;
    Context c(arena);
    c.set_training(true);
    const Tensor memory = lasting_zeros(weights.trained_window().count);
    Grads grads;
    weights.bind_gradients(grads, memory);
    grads.restart();
    Tape tape;
    for (const std::uint64_t pass : {1, 2}) {
      Batch batch = random_pairs(10 * seed + pass, !m.has_encoder());
      if (change) change(batch);
      c.set_tape(&tape);
      c.set_rng(Rng(seed + pass));
      c.set_shared_key(random_key(seed, pass));
      weights.watch(tape);
      const Tensor loss = batch_loss(c, m, batch, settings, 40);
      if (announces && pass == 2)
        grads.announce([&](std::uint64_t id) {
          ASSERT_TRUE(trained.contains(id)) << "of what nobody asked for";
          const nn::Parameter& p = *trained[id];
          EXPECT_TRUE(at_that_time.emplace(id, host_copy<float>(grads.get(p.value))).second) << p.name << " twice";
          said.names.push_back(p.name);
          said.nodes_to_come.push_back(tape.size());
        });
      tape.backward(c, loss, c.upload<float>({1.0f}), grads);
      c.set_tape(nullptr);
    }
    grads.finish(c);
    std::map<std::uint64_t, std::vector<float>> final;
    for (const auto& [id, p] : trained) final[id] = host_copy<float>(grads.get(p->value));
    return final;
  };
  const auto silent = run(false), loud = run(true);
  for (const auto& [id, p] : trained) {
    if (!at_that_time.contains(id)) {
      ADD_FAILURE() << p->name << " was never announced";
      continue;
    }
    EXPECT_TRUE(at_that_time[id] == loud.at(id)) << p->name << " was not complete";
    EXPECT_TRUE(loud.at(id) == silent.at(id)) << p->name << " is another where it is announced";
  }
  EXPECT_EQ(said.names.size(), trained.size());
  return said;
}

// Excludes decoders that attend to an external memory, which are not trained, and models without a start token for targets.
bool trains(const std::string& config) {
  for (const char* architecture : {"padded_decoder", "learned_position_decoder", "tied_decoder", "full_transformer"})
    if (config.find(architecture) != config.npos) return false;
  return true;
}

void for_each_family(const std::function<void(model::Model&, const std::string&)>& look) {
  for (const std::string& text : testing::small_configs()) {
    SCOPED_TRACE(text);
    if (trains(text)) look(*random_model(nlohmann::json::parse(text)), text);
  }
}

TEST(Announced, EveryFamilysGradientsAreCompleteAndMostOfThemEarly) {
  for_each_family([](model::Model& m, const std::string&) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {  // layers are sometimes skipped
      const Said said = expect_told_what_comes_out(
          m, {.label_smoothing = 0.1, .router_aux_loss = m.experts_per_token() > 0 ? 0.01 : 0}, seed);
      const auto early =
          std::count_if(said.nodes_to_come.begin(), said.nodes_to_come.end(), [](auto n) { return n > 0; });
      EXPECT_GT(2 * early, static_cast<std::ptrdiff_t>(said.names.size()));
    }
  });
}

TEST(Announced, WithTwoPassesOfEachBatch) {
  for_each_family([](model::Model& m, const std::string&) { expect_told_what_comes_out(m, {.r_drop = 2}, 1); });
}

TEST(Announced, WhereLayersAreComputedAgainAtTheEnd) {
  for_each_family([](model::Model& m, const std::string&) {
    m.set_gradient_checkpointing(true);
    const Said said = expect_told_what_comes_out(m, {}, 2);
    for (std::size_t i = 0; i < said.names.size(); ++i) EXPECT_EQ(said.nodes_to_come[i], 0u) << said.names[i];
  });
}

TEST(Announced, FrozenWeightsAreNotSpokenOf) {
  for_each_family([](model::Model& m, const std::string&) {
    for (std::size_t kept = 0; kept < 3; ++kept) {
      std::size_t i = 0;
      for (nn::Parameter& p : m.parameters().all()) p.trainable = i++ % 3 == kept;
      expect_told_what_comes_out(m, {}, 3);
    }
    std::size_t i = 0;  // one alone
    for (nn::Parameter& p : m.parameters().all()) p.trainable = i++ == 0;
    expect_told_what_comes_out(m, {}, 3);
  });
}

TEST(Announced, WithGuidedAttentionAndWeightedPairs) {
  const auto m = testing::small_marian();
  LossSettings settings;
  settings.guided = GuidedAlignment{{-1, {0}}, ops::AlignmentCost::ce, 0.5};
  m->set_alignment_heads(settings.guided->heads);
  expect_told_what_comes_out(*m, settings, 4, [](Batch& b) {
    b.weights = {1, 0.5, 2, 0, 1};
    b.alignments.assign(b.lines.size(), Alignment{{0, 0}});
  });
}

TEST(Announced, TheLastLayersComeBeforeTheFirst) {
  const auto m = testing::small_marian();
  const Said said = expect_told_what_comes_out(*m, {.label_smoothing = 0.1}, 5);
  std::size_t last_of_decoder = 0, first_of_encoder = said.names.size(), of_decoder = 0, of_encoder = 0;
  for (std::size_t i = 0; i < said.names.size(); ++i) {
    if (said.names[i].find("decoder.layers.1.") != std::string::npos) last_of_decoder = i, ++of_decoder;
    if (said.names[i].find("encoder.layers.0.") != std::string::npos && of_encoder++ == 0) first_of_encoder = i;
  }
  EXPECT_GT(of_decoder, 10u);
  EXPECT_GT(of_encoder, 10u);
  EXPECT_LT(last_of_decoder, first_of_encoder);
  EXPECT_GT(said.nodes_to_come[last_of_decoder], said.nodes_to_come[first_of_encoder] + 10) << "much is still to come";
}

}  // namespace
}  // namespace tril::train
