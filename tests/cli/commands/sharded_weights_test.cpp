// `mpirun tril train --shard-weights`: no process has all weights, and the result is the same.
#include "support/rank_runs.h"

namespace tril::sharded_weights_test {
namespace {

using ShardedWeightsTest = RanksTest;

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(ShardedWeightsTest, TrainWhatWholeOnesTrainUpToRounding) {
  write_pairs(folder.at("text"), 200, 3);
  const std::vector<Words> kinds{
      {"--optimizer", "adam", "--enc-depth", "3", "--dec-depth", "2", "--layer-drop", "0.3"},
      {"--optimizer", "adam", "--precision", "bf16", "--threads", "2", "--enc-depth", "2"},
      {"--optimizer", "muon", "--r-drop", "2", "--dec-depth", "2", "--clip-norm", "0.5"},
      {"--optimizer", "adafactor", "--gradient-checkpointing", "--threads", "2", "--dec-depth", "3"},
      {"--optimizer", "lion", "--learn-rate", "0.001", "--arch", "t5", "--enc-depth", "2", "--dec-depth", "2"},
      {"--optimizer", "adamw", "--arch", "gpt2", "--train-sets", folder.at("text.src"), "--valid-sets",
       folder.at("valid.src"), "--vocab-type", "char", "--max-length", "20", "--dec-depth", "2"},
      {"--optimizer", "adam", "--arch", "linear_decoder", "--train-sets", folder.at("text.src"), "--valid-sets",
       folder.at("valid.src"), "--vocab-type", "char", "--max-length", "20", "--dec-depth", "2"},
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(kinds[i]));
    const std::string name = std::to_string(i);
    const bool rounds = kinds[i][1] == "lion" || has(kinds[i], "bf16");
    const Words usual = with(kinds[i], {"--save-freq", "4u", "--valid-freq", "4u"});
    run_ranks(2, train(name + "whole", with(usual, {"--after", "8u"})));
    run_ranks(2, train(name + "sharded", with(usual, {"--after", "8u", "--shard-weights"})));
    run_alone(train(name + "first", with(usual, {"--accumulate", "2", "--after", "1u"})));  // only the scale of apart()
    expect_near_figures(name + "sharded", name + "whole", rounds ? 5e-3 : 2e-4);
    EXPECT_LT(apart(name + "sharded", name + "whole", name + "first"), rounds ? 0.1 : 1e-3);
  }
}

// The same job twice: sums are in the ranks' order, whatever arrives first.
TEST_F(ShardedWeightsTest, TheSameJobMakesTheSameBits) {
  for (const char* model : {"one", "two"})
    run_ranks(3, train(model, {"--shard-weights", "--threads", "2", "--dec-depth", "2"}));
  expect_same_run("two", "one");
}

// A checkpoint has each rank's part of weights and moments, and any number of ranks resumes from it, sharded or not.
TEST_F(ShardedWeightsTest, AnyoneGoesOnFromAnyState) {
  const auto args = [&](const std::string& model, const char* after, bool sharded, const char* accumulate) {
    Words more{"--after", after, "--accumulate", accumulate, "--valid-freq", "10u"};
    if (sharded) more.push_back("--shard-weights");
    return train(model, more);
  };
  run_ranks(3, args("model", "10u", true, "1"));
  EXPECT_FALSE(std::filesystem::exists(folder.at("model/checkpoint/state-00000010/weights.safetensors")) &&
               SafetensorsFile::open(folder.at("model/checkpoint/state-00000010/weights.safetensors")).find("weights"))
      << "no rank has all weights to write";
  run_ranks(2, args("model", "20u", true, "1"));
  run_ranks(2, args("model", "30u", false, "1"));
  run_ranks(3, args("model", "36u", true, "1"));
  run_alone(args("model", "40u", false, "1"));
  run_alone(args("alone", "40u", false, "3"));
  run_alone(args("first", "1u", false, "3"));
  const auto last = [&](const std::string& model) { return figures(model).back()["cross_entropy"].get<double>(); };
  EXPECT_NEAR(last("model"), last("alone"), 1e-3 * last("alone"));
  EXPECT_LT(apart("model", "alone", "first"), 1e-2);
}

// With fewer batches than ranks, some compute nothing but still send what they own.
TEST_F(ShardedWeightsTest, RanksWithNothingToComputeWalkAlong) {
  run_alone(train("model", {"--accumulate", "2", "--after", "6u"}));
  run_ranks(4, train("model", {"--accumulate", "2", "--after", "12u", "--shard-weights"}));
  run_alone(train("alone", {"--accumulate", "2", "--after", "12u"}));
  run_alone(train("first", {"--accumulate", "2", "--after", "6u"}));
  EXPECT_LT(apart("model", "alone", "first"), 1e-3);
}

// Ranks on machines of different sizes split their batches into different numbers of passes.
TEST_F(ShardedWeightsTest, RanksOfDifferentThreadsTakeTheSameSteps) {
  const Words args = train("model", {"--shard-weights", "--threads", "OWN", "--after", "20u"});
  RankJob job(folder, 3,
              "for a in \"$@\"; do shift; [ \"$a\" = OWN ] && a=$((1 + RANK / 2 * 2)); set -- \"$@\" \"$a\"; done");
  const Ran ran = job.run(args, [](RankJob& running) { EXPECT_TRUE(running.ends_within(std::chrono::minutes(1))); });
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(figures("model").back()["update"], 20);
}

TEST_F(ShardedWeightsTest, TranslatesAsAnyModel) {
  run_ranks(2, train("model", {"--shard-weights", "--after", "20u"}));
  const Ran ran = run_tril({"translate", "--model", folder.at("model")}, "a b c\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(ShardedWeightsTest, WhatWantsAllWeightsIsRefused) {
  const std::vector<Words> refused{{"--ema", "0.9"},
                                   {"--average-checkpoints", "3"},
                                   {"--deterministic"},
                                   {"--valid-metrics", "bleu"},
                                   {"--valid-samples", "2"}};
  for (const Words& option : refused) {
    const Ran ran = RankJob(folder, 2).run(train("model", with(option, {"--shard-weights"})));
    EXPECT_EQ(ran.code, 2) << option[0] << ": " << ran.err;
    EXPECT_TRUE(contains(ran.err, "--shard-weights") && contains(ran.err, option[0])) << ran.err;
  }
}

// Peak memory of a rank, in MiB, for a model that consists nearly only of layers.
TEST_F(ShardedWeightsTest, TakeLessMemory) {
  std::ofstream(folder.at("text")) << std::string(4000, 'a') + "bcdefgh\n";
  const auto peak = [&](const Words& more) {
    const Ran ran =
        RankJob(folder, 4).run(with({"bench",       "train", "--arch",       "gpt2", "--train-sets", folder.at("text"),
                                     "--d-model",   "256",   "--num-heads",  "4",    "--ffn-dim",    "1024",
                                     "--dec-depth", "16",    "--max-length", "16",   "--max-tokens", "16",
                                     "--threads",   "1",     "--updates",    "3",    "--skip",       "1"},
                                    more));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["peak_mib"].get<double>();
  };
  EXPECT_LT(peak({"--shard-weights"}), 0.6 * peak({}));
}

}  // namespace
}  // namespace tril::sharded_weights_test
