// tril score, bench translate and alignments from outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "support/translate.h"

namespace tril {
namespace {

TEST_F(Translate, ScoreAddsUpItsTokens) {
  const std::string source = folder->write("source", text),
                    target = folder->write("target", "the dog\nball\n\na red dog\n");
  const Ran plain = run_tril({"score", "--model", model, "--source", source, "--target", target});
  EXPECT_EQ(plain.code, 0) << plain.err;
  const Ran detailed = run_tril({"score", "--model", model, "--source", source, "--target", target, "--word-scores",
                                 "--json", "--batch-size", "1"});
  const auto sums = lines_of(plain.out), details = lines_of(detailed.out);
  ASSERT_EQ(sums.size(), 4u);
  ASSERT_EQ(details.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto j = nlohmann::json::parse(details[i]);
    double sum = 0;
    for (const auto& word : j.at("word_scores")) sum += word.at("log_prob").get<double>();
    EXPECT_NEAR(sum, std::stod(sums[i]), 1e-4);
    EXPECT_EQ(j.at("word_scores").back().at("piece"), "</s>");
  }
  const std::string shorter = folder->write("shorter", "the dog\n");
  const Ran unequal = run_tril({"score", "--model", model, "--source", source, "--target", shorter});
  EXPECT_EQ(unequal.code, 1);
  EXPECT_NE(unequal.err.find("ends after 1 line,"), std::string::npos) << unequal.err;
}

TEST_F(Translate, ScoreSkipsWhatIsNoTextAndKeepsTheLines) {
  const std::string source = folder->write("source", "a dog\nb\xff\nruns\n"),
                    target = folder->write("target", "the dog\nball\na red dog\n");
  const std::vector<std::string> args{"score", "--model", model, "--source", source, "--target", target};
  const Ran refused = run_tril(args);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("line 2"), std::string::npos) << refused.err;
  auto skipping = args;
  skipping.emplace_back("--skip-invalid");
  const Ran plain = run_tril(skipping);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_NE(plain.err.find("not scored: 1"), std::string::npos) << plain.err;
  const auto lines = lines_of(plain.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "nan");
  EXPECT_LT(std::stod(lines[2]), 0);
  skipping.emplace_back("--json");
  const auto objects = lines_of(run_tril(skipping).out);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_TRUE(nlohmann::json::parse(objects[1]).at("log_prob").is_null());
  EXPECT_EQ(nlohmann::json::parse(objects[2]).at("line"), 3);
}

TEST_F(Translate, BenchForcesTheLength) {
  const std::string input = folder->write("bench", text);
  for (const char* batch : {"1", "3"}) {
    const Ran ran = run_tril({"bench", "translate", "--model", model, "-i", input, "-b", "2", "--batch-size", batch,
                              "--min-length", "6", "--max-length", "6", "--sentences", "3", "--repeat", "1"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto j = nlohmann::json::parse(ran.out);
    EXPECT_EQ(j.at("target_tokens"), 18);
    for (const char* key : {"target_tokens_per_second", "p50_ms", "p99_ms", "peak_mib"}) EXPECT_GT(j.at(key), 0) << key;
    EXPECT_FALSE(j.contains("profile"));
  }
}

TEST_F(Translate, BenchSaysWhereTheTimeWent) {
  const std::string input = folder->write("bench", text);
  const Ran ran = run_tril({"bench", "translate", "--model", model, "-i", input, "-b", "2", "--precision", "int8",
                            "--batch-size", "2", "--repeat", "1", "--threads", "1", "--profile"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto profile = nlohmann::json::parse(ran.out).at("profile");
  for (const char* key : {"target_tokens_per_second", "mflop_per_token", "gflops", "int8_gflops"})
    EXPECT_GT(profile.at(key), 0) << key;
  EXPECT_NEAR(profile.at("share_of_int8").get<double>(),
              profile.at("gflops").get<double>() / profile.at("int8_gflops").get<double>(), 1e-9);
  double shares = 0;
  for (const auto& row : profile.at("rows")) {
    EXPECT_GE(row.at("share").get<double>(), 0) << row;
    shares += row.at("share").get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9) << "nothing is counted twice, nothing left out";
  EXPECT_EQ(profile.at("rows").back().at("name"), "rest");
}

// Translation and scoring give the same alignments for the same pair, in every format.
TEST_F(Translate, AlignmentsOfTranslationAndOfScoring) {
  const std::string sources = "a dog runs\nthe red ball\ntwo men\n";
  const auto objects = lines_of(translate({"-b", "3", "--alignment", "soft", "--json"}, sources).out);
  const auto hard = lines_of(translate({"-b", "3", "--alignment", "hard"}, sources).out),
             some = lines_of(translate({"-b", "3", "--alignment", "0.15"}, sources).out),
             plain = lines_of(translate({"-b", "3"}, sources).out),
             best = lines_of(translate({"-b", "3", "--alignment", "hard", "--n-best", "2"}, sources).out);
  ASSERT_EQ(objects.size(), 3u);
  ASSERT_EQ(best.size(), 6u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto j = nlohmann::json::parse(objects[i]).at("translations")[0];
    const auto soft = j.at("alignment").get<std::vector<std::vector<double>>>();
    const auto source_pieces = j.at("source_pieces").get<std::vector<std::string>>(),
               pieces = j.at("pieces").get<std::vector<std::string>>();
    EXPECT_EQ(source_pieces.back(), "</s>");
    ASSERT_EQ(soft.size(), pieces.size());
    std::vector<std::pair<std::size_t, std::size_t>> highest, above;
    for (std::size_t t = 0; t < soft.size(); ++t) {
      ASSERT_EQ(soft[t].size(), source_pieces.size());
      EXPECT_NEAR(std::accumulate(soft[t].begin(), soft[t].end(), 0.0), 1, 1e-5);
      highest.emplace_back(std::max_element(soft[t].begin(), soft[t].end()) - soft[t].begin(), t);
      for (std::size_t s = 0; s < soft[t].size(); ++s)
        if (soft[t][s] > 0.15) above.emplace_back(s, t);
    }
    const auto text_of = [](std::vector<std::pair<std::size_t, std::size_t>> points) {
      std::sort(points.begin(), points.end());
      std::string list;
      for (const auto& [s, t] : points) list += (list.empty() ? "" : " ") + std::to_string(s) + "-" + std::to_string(t);
      return list;
    };
    EXPECT_EQ(hard[i], plain[i] + " ||| " + text_of(highest));
    EXPECT_EQ(some[i], plain[i] + " ||| " + text_of(above));
    EXPECT_TRUE(best[2 * i].starts_with(std::to_string(i) + " ||| " + hard[i] + " ||| ")) << best[2 * i];
  }
  // Scores a translation that ends with its end token.
  const std::string source = folder->write("aligned.src", sources);
  const std::string target = folder->write("aligned.tgt", plain[0] + "\n" + plain[1] + "\n" + plain[2] + "\n");
  const Ran scored = run_tril({"score", "-m", model, "-s", source, "-t", target, "--alignment", "soft", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto a = nlohmann::json::parse(lines_of(scored.out)[i]),
               b = nlohmann::json::parse(objects[i]).at("translations")[0];
    if (a.at("pieces") != b.at("pieces")) continue;  // it was tokenised differently, or reached its limit
    const auto x = a.at("alignment").get<std::vector<std::vector<double>>>(),
               y = b.at("alignment").get<std::vector<std::vector<double>>>();
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t s = 0; s < x[t].size(); ++s) EXPECT_NEAR(x[t][s], y[t][s], 1e-5);
  }
  const auto text_lines =
      lines_of(run_tril({"score", "-m", model, "-s", source, "-t", target, "--alignment", "hard"}).out);
  ASSERT_EQ(text_lines.size(), 3u);
  EXPECT_NE(text_lines[0].find(" ||| "), std::string::npos) << text_lines[0];
  // Another layer has other alignments; the last is the default.
  EXPECT_EQ(lines_of(translate({"-b", "3", "--alignment", "hard", "--alignment-layer", "last"}, sources).out), hard);
  EXPECT_NE(translate({"-b", "3", "--alignment", "soft", "--alignment-layer", "1"}, sources).out,
            translate({"-b", "3", "--alignment", "soft"}, sources).out);
}

}  // namespace
}  // namespace tril
