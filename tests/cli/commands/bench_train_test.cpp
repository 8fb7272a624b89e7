// tril bench train, and the profile of --profile, from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace tril {
namespace {

using Json = nlohmann::json;

/// The arguments of a bench of a small text, and more of them.
std::vector<std::string> bench(const ScratchFolder& folder, const std::vector<std::string>& more) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::string("the dog and the cat ") + (i % 3 ? "run" : "sleep") + "\n";
  const std::string file = folder.write("text", text), vocab = folder.at("vocab.spm");
  const Ran made = run_tril({"vocab", "--train-sets", file, "--size", "40", "--out", vocab});
  EXPECT_EQ(made.code, 0) << made.err;
  std::vector<std::string> words{
      "bench",        "train", "--preset",  "tiny", "--train-sets", file, file,        "--vocab", vocab,
      "--max-tokens", "300",   "--updates", "4",    "--skip",       "2",  "--threads", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(BenchTrain, ProfileAsJsonAddsUp) {
  const ScratchFolder folder;
  const Ran ran = run_tril(bench(folder, {"--profile", "--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err.find("Where an update's time goes"), std::string::npos) << "as JSON, not as a table";
  const Json result = Json::parse(ran.out), &p = result["profile"];
  EXPECT_EQ(p["threads"], 2);
  EXPECT_EQ(p["updates"], 2);
  const double whole = p["milliseconds"].get<double>();
  EXPECT_NEAR(whole, 1000 / result["updates_per_second"].get<double>(), 1e-6 * whole);
  EXPECT_GT(p["roof"]["gflop_per_second_fp32"].get<double>(), 0);
  EXPECT_GT(p["roof"]["gb_per_second"].get<double>(), 0);
  double milliseconds = 0, share = 0;
  std::vector<std::string> names;
  for (const Json& row : p["rows"]) {
    names.push_back(row["name"]);
    milliseconds += row["milliseconds"].get<double>(), share += row["share"].get<double>();
  }
  EXPECT_NEAR(milliseconds, whole, 1e-6 * whole);
  EXPECT_NEAR(share, 1, 1e-6);
  for (const char* name : {"linear: forward", "linear: input gradient", "linear: weight gradient", "attention: forward",
                           "attention: backward", "layer_norm: forward", "layer_norm: backward", "embedding: forward",
                           "optimiser: step", "weights: packing", "gradients: sum and norms", "data: waiting"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(BenchTrain, TakesPairsOfOneFile) {
  const ScratchFolder folder;
  std::vector<std::string> words = bench(folder, {"--tsv"});
  std::string pairs;
  for (int i = 0; i < 200; ++i) pairs += "the dog and the cat run\tthe cat and the dog sleep\n";
  const auto sets = std::find(words.begin(), words.end(), "--train-sets") + 1;
  *sets = folder.write("pairs.tsv", pairs);
  words.erase(sets + 1);
  const Ran ran = run_tril(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST(BenchTrain, ProfileIsATableForPeopleBesideTheLineForPrograms) {
  const ScratchFolder folder;
  const Ran ran = run_tril(bench(folder, {"--profile", "--precision", "bf16"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(Json::parse(ran.out).contains("profile"));
  for (const char* part :
       {"mean of 2 updates on 2 threads", "products in bf16", "linear: gradients", "reached", "\nupdate  "})
    EXPECT_NE(ran.err.find(part), std::string::npos) << part << " in\n" << ran.err;
}

TEST(BenchTrain, WithoutProfileThereIsNothingToPrint) {
  const ScratchFolder folder;
  const Ran alone = run_tril(bench(folder, {"--json"}));
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("--profile"), std::string::npos) << alone.err;
  const Ran plain = run_tril(bench(folder, {}));
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_FALSE(Json::parse(plain.out).contains("profile"));
  EXPECT_EQ(plain.err.find("roof"), std::string::npos);
}

}  // namespace
}  // namespace tril
