// Medusa heads from outside: trained, resumed, inspected, and used where text is generated or translated.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "support/contains.h"
#include "support/language_model.h"

namespace tril::medusa_test {
namespace {

class MedusaHeads : public LanguageModel {
 protected:
  static void SetUpTestSuite() {
    LanguageModel::SetUpTestSuite();
    heads = folder->at("heads");
    made = run_tril(training_heads(heads, "100u"));
  }

  static std::vector<std::string> training_heads(const std::string& dir, const std::string& after,
                                                 std::vector<std::string> more = {}) {
    std::vector<std::string> args{"train",    "--model",      dir,        "--init-from",  model, "--train-sets",
                                  train_text, "--valid-sets", valid_text, "--max-tokens", "480", "--medusa-heads",
                                  "3",        "--learn-rate", "0.01",     "--warmup",     "20",  "--after",
                                  after,      "--threads",    "2"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  static Ran go_on(std::vector<std::string> more) {
    more.insert(more.begin(), {"--prompt", "the d", "--prompt", "one", "--prompt", "a", "--max-new-tokens", "19"});
    return generate(more);
  }

  static inline std::string heads;
  static inline Ran made;
};

TEST_F(MedusaHeads, AreTrainedBesideTheirModel) {
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(
      contains(made.err, "the heads are in " + heads, "tril generate --model " + model + " --draft-heads " + heads))
      << made.err;
  EXPECT_FALSE(std::filesystem::exists(heads + "/model.safetensors"));
  const auto config = nlohmann::json::parse(file_text(heads + "/config.json"));
  EXPECT_EQ(config["medusa_num_heads"], 3);
  EXPECT_EQ(config["medusa_num_layers"], 1);
  EXPECT_EQ(config["base_model_name_or_path"], model);

  const std::string halves = folder->at("halves");
  ASSERT_EQ(run_tril(training_heads(halves, "40u")).code, 0);
  const Ran resumed = run_tril(training_heads(halves, "100u"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.err, "resuming after update 40"));
  EXPECT_EQ(file_text(halves + "/medusa_lm_head.safetensors"), file_text(heads + "/medusa_lm_head.safetensors"));
}

TEST_F(MedusaHeads, ProposeWhatTheModelWrites) {
  ASSERT_EQ(made.code, 0) << made.err;
  for (const std::string precision : {"fp32", "bf16", "int8"}) {
    const Ran plain = go_on({"--precision", precision});
    ASSERT_EQ(plain.code, 0) << plain.err;
    for (const std::string batch : {"1", "2", "4"})
      for (const std::vector<std::string>& tokens :
           std::vector<std::vector<std::string>>{{}, {"--draft-tokens", "1"}, {"--draft-tokens", "3"}}) {
        std::vector<std::string> args{"--precision", precision, "--draft-heads", heads, "--batch-size", batch};
        args.insert(args.end(), tokens.begin(), tokens.end());
        const Ran ran = go_on(args);
        ASSERT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ(ran.out, plain.out) << precision << " " << batch;
      }
  }
  const Ran told = go_on({"--draft-heads", heads, "--draft-tokens", "3"});
  std::smatch counts;
  ASSERT_TRUE(std::regex_search(told.err, counts, std::regex("accepted ([0-9]+) of ([0-9]+)"))) << told.err;
  EXPECT_GT(2 * std::stoi(counts[1]), std::stoi(counts[2])) << "most of the text can be foretold: " << told.err;

  const Ran constrained = go_on({"--regex", "(og |gd )*is us.\n"});
  ASSERT_EQ(constrained.code, 0) << constrained.err;
  EXPECT_EQ(go_on({"--regex", "(og |gd )*is us.\n", "--draft-heads", heads, "--draft-tokens", "3"}).out,
            constrained.out);
}

TEST_F(MedusaHeads, MayHaveOutputMatricesOfTheirOwn) {
  const std::string own = folder->at("own");
  const Ran ran = run_tril(training_heads(own, "40u", {"--medusa-own-output", "--medusa-layers", "2"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(go_on({"--draft-heads", own}).out, go_on({}).out);
  const auto inspected = nlohmann::json::parse(run_tril({"inspect", own, "--json"}).out);
  EXPECT_EQ(inspected["output"], "own");
  EXPECT_EQ(inspected["layers"], 2);
  const Ran shared = run_tril({"inspect", heads});
  EXPECT_TRUE(contains(shared.out, "3 of 1 layer", "which the heads share", model)) << shared.out << shared.err;
}

// A sample is the same with and without heads.
TEST_F(MedusaHeads, ProposeForSamplesToo) {
  for (const char* seed : {"1", "2"}) {
    const std::vector<std::string> sampled{"--temperature", "0.7", "--seed", seed};
    std::vector<std::string> with = sampled;
    with.insert(with.end(), {"--draft-heads", heads});
    EXPECT_EQ(go_on(with).out, go_on(sampled).out) << seed;
  }
}

TEST_F(MedusaHeads, AreRefusedWhereTheyDoNotBelong) {
  const auto refused = [](const Ran& ran, auto... words) {
    EXPECT_NE(ran.code, 0);
    EXPECT_TRUE(contains(ran.err, words...)) << ran.err;
  };
  refused(go_on({"--draft-heads", heads, "--draft-tokens", "4"}), "--draft-tokens: is 4", "3 heads");
  refused(go_on({"--draft-heads", heads, "--beam-size", "2"}), "--draft-heads", "greedy search");
  refused(go_on({"--draft-heads", heads, "--models", model}), "--draft-heads", "one model");
  refused(go_on({"--draft-heads", heads, "--prompt-lookup", "2"}), "--draft-heads", "choose one");
  refused(go_on({"--draft-heads", model}), "medusa_lm_head.safetensors");
  refused(run_tril({"generate", "--model", heads, "--prompt", "a"}), "Medusa heads", "--draft-heads");
  const std::string never = folder->at("never");
  refused(run_tril(training_heads(never, "1u", {"--lora-rank", "2"})), "only the heads are trained");
  refused(run_tril(training_heads(never, "1u", {"--dropout", "0.1"})), "frozen");
  refused(run_tril(training_heads(never, "1u", {"--medusa-heads", "0"})), "--medusa-heads");
}

}  // namespace
}  // namespace tril::medusa_test
