// Scoring texts from outside: tril score, perplexity and the benchmarks of language models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/language_model.h"

namespace tril {
namespace {

// Compared with `tril score` and the sums of its definitions, for several texts, from a pipe, and truncated.
TEST_F(LanguageModel, PerplexityOfTexts) {
  const auto perplexity = [&](std::vector<std::string> args, const std::string& input = "") {
    args.insert(args.begin(), {"perplexity", "--model", model, "--json"});
    const Ran ran = run_tril(args, input);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<nlohmann::json> objects;
    for (const std::string& line : lines_of(ran.out)) objects.push_back(nlohmann::json::parse(line));
    return objects;
  };
  const auto value = [](const nlohmann::json& object, const char* key) { return object.at(key).get<double>(); };
  const auto whole = perplexity({"-i", valid_text, "--stride", "5"}).at(0);
  const auto scored =
      nlohmann::json::parse(score({"--source", valid_text, "--document", "--summary", "--json", "--stride", "5"}).out);
  EXPECT_NEAR(value(whole, "perplexity"), value(scored, "perplexity"), 1e-9);
  EXPECT_NEAR(value(whole, "bits_per_character"), value(scored, "bits_per_character"), 1e-9);
  const double log_prob = value(whole, "log_prob");
  EXPECT_NEAR(value(whole, "word_perplexity"), std::exp(-log_prob / value(whole, "words")), 1e-6);
  EXPECT_NEAR(value(whole, "bits_per_byte"), -log_prob / std::log(2.0) / value(whole, "bytes"), 1e-9);
  EXPECT_NEAR(value(whole, "byte_perplexity"), std::exp(-log_prob / value(whole, "bytes")), 1e-9);
  EXPECT_GT(value(whole, "standard_error"), 0);
  EXPECT_EQ(value(whole, "stride"), 5);
  EXPECT_EQ(value(whole, "context"), 24);

  const std::string text = "the dog sees \u00e9l\u00e8ve 10 \u20ac.\n";
  const auto small = perplexity({}, text).at(0);
  EXPECT_EQ(small["input"], "standard input");
  EXPECT_EQ(small["tokens"], 24) << "the first is given";
  EXPECT_EQ(small["characters"], 24);
  EXPECT_EQ(small["bytes"], 28);
  EXPECT_EQ(small["words"], 6);
  const auto begun = perplexity({"--begin"}, text).at(0);
  EXPECT_EQ(begun["tokens"], 25);
  EXPECT_EQ(begun["bytes"], 29);
  const auto first = perplexity({"--tokens", "15"}, text).at(0);
  EXPECT_EQ(first["tokens"], 15);
  EXPECT_EQ(first["characters"], 15);
  EXPECT_EQ(first["bytes"], 17);
  EXPECT_GT(value(first, "log_prob"), value(small, "log_prob"));

  const std::string other = folder->write("some", text);
  const auto several = perplexity({"-i", valid_text, other, "--stride", "5"});
  ASSERT_EQ(several.size(), 3u);
  EXPECT_EQ(several[0], whole);
  EXPECT_NEAR(value(several[2], "log_prob"), log_prob + value(several[1], "log_prob"), 1e-9);
  EXPECT_EQ(value(several[2], "tokens"), value(whole, "tokens") + 24);

  const Ran shown = run_tril({"perplexity", "--model", model, "-i", other});
  EXPECT_NE(shown.out.find("tokens 24  words 6  characters 24  bytes 28"), std::string::npos) << shown.out;
}

TEST_F(LanguageModel, ScoresLinesAndTokens) {
  const std::string lines = folder->write("lines", "the dog sees it.\n\nthe dog sees qq.\nx\n");
  const Ran ran = score({"--source", lines, "--word-scores"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto scores = lines_of(ran.out);
  ASSERT_EQ(scores.size(), 4u);
  EXPECT_GT(std::stod(scores[0]), std::stod(scores[2]) + 5);
  EXPECT_EQ(scores[1], "0.000000 ||| ");
  EXPECT_EQ(scores[3], "0.000000 ||| ") << "the first token is given";
  EXPECT_EQ(std::count(scores[0].begin(), scores[0].end(), '.'), 16) << "a sum and 15 tokens";
  EXPECT_NE(ran.err.find("perplexity"), std::string::npos) << ran.err;
  const Ran begun = score({"--source", lines, "--word-scores", "--begin"});
  EXPECT_EQ(std::count(begun.out.begin(), begun.out.end(), '.'), 17 + 1 + 17 + 2);
}

TEST_F(LanguageModel, BenchmarksPrintOneObject) {
  const Ran generating = run_tril({"bench", "generate", "--model", model, "--prompt-length", "8", "--new-tokens", "10",
                                   "--batch-size", "2", "--repeat", "1", "--threads", "1", "--precision", "int8"});
  ASSERT_EQ(generating.code, 0) << generating.err;
  auto figures = nlohmann::json::parse(generating.out);
  for (const char* key : {"prompt_tokens_per_second", "generate_tokens_per_second", "weight_bytes_per_token",
                          "read_bandwidth", "share_of_bandwidth", "peak_mib"})
    EXPECT_GT(figures[key].get<double>(), 0) << key;
  EXPECT_EQ(figures["precision"], "int8");
  EXPECT_FALSE(figures.contains("with_proposals"));
  const Ran proposing =
      run_tril({"bench",           "generate", "--model",           model,  "--input",          train_text,
                "--prompt-length", "4",        "--new-tokens",      "10",   "--repeat",         "1",
                "--draft-model",   model,      "--draft-precision", "fp32", "--draft-min-prob", "0",
                "--draft-tokens",  "2"});
  ASSERT_EQ(proposing.code, 0) << proposing.err;
  figures = nlohmann::json::parse(proposing.out)["with_proposals"];
  EXPECT_EQ(figures["same_texts"], 1.0) << figures;
  EXPECT_EQ(figures["acceptance"], 1.0) << "a model agrees with itself: " << figures;
  EXPECT_NEAR(figures["tokens_per_step"].get<double>(), 2.5, 0.5) << figures;
  const Ran short_text = run_tril({"bench", "generate", "--model", model, "--input", train_text, "--prompt-length", "4",
                                   "--new-tokens", "2", "--batch-size", "90000"});
  EXPECT_EQ(short_text.code, 2);
  EXPECT_NE(short_text.err.find("are needed"), std::string::npos) << short_text.err;
  const auto with = [&](const char* instruction_set) {
    return run_tril({"bench", "generate", "--model", model, "--prompt-length", "2", "--new-tokens", "1"},
                    {.input = {},
                     .stdout_to = {},
                     .before = [=] { setenv("TRIL_INSTRUCTION_SET", instruction_set, 1); },
                     .meanwhile = {}});
  };
  EXPECT_EQ(nlohmann::json::parse(with("generic").out)["instruction_set"], "generic");
  const Ran refused = with("mmx");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("'mmx' is not available on this processor; available: generic"), std::string::npos)
      << refused.err;
  const Ran training_speed =
      run_tril({"bench",       "train", "--arch",      "gpt2", "--train-sets", train_text, "--d-model",    "16",
                "--num-heads", "2",     "--dec-depth", "1",    "--max-length", "16",       "--max-tokens", "64",
                "--updates",   "4",     "--skip",      "1",    "--threads",    "1"});
  ASSERT_EQ(training_speed.code, 0) << training_speed.err;
  figures = nlohmann::json::parse(training_speed.out);
  for (const char* key : {"target_tokens_per_second", "updates_per_second", "loss", "peak_mib"})
    EXPECT_GT(figures[key].get<double>(), 0) << key;
}

}  // namespace
}  // namespace tril
