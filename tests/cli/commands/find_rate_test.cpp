// `tril find-rate`: a sweep with the options of a future training run.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace tril {
namespace {

TEST(FindRate, TableJsonAndPlotButNoModel) {
  const ScratchFolder folder;
  std::string source, target;
  for (int i = 0; i < 200; ++i) {
    const std::string word(1 + static_cast<std::size_t>(i % 5), static_cast<char>('a' + i % 12));
    source += word + " x\n";
    target += "x " + word + "\n";
  }
  const std::vector<std::string> args{"find-rate",
                                      "--model",
                                      folder.at("model"),
                                      "--train-sets",
                                      folder.write("src", source),
                                      folder.write("tgt", target),
                                      "--vocab-size",
                                      "30",
                                      "--d-model",
                                      "16",
                                      "--num-heads",
                                      "2",
                                      "--ffn-dim",
                                      "24",
                                      "--enc-depth",
                                      "1",
                                      "--dec-depth",
                                      "1",
                                      "--max-tokens",
                                      "100",
                                      "--threads",
                                      "1",
                                      "--sweep-updates",
                                      "60"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), args.begin(), args.end());
    return run_tril(more);
  };
  const Ran table = with({"--plot", folder.at("rates.html")});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("suggested --learn-rate"), std::string::npos) << table.out;
  EXPECT_NE(file_text(folder.at("rates.html")).find("<svg"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.at("model")));

  const Ran json = with({"--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const nlohmann::json sweep = nlohmann::json::parse(json.out);
  EXPECT_GT(sweep.at("suggestion").get<double>(), 0);
  EXPECT_GE(sweep.at("points").size(), 10u);

  EXPECT_EQ(with({"--plot", folder.at("rates.png")}).code, 2);

  const Ran without = run_tril({"find-rate", "--train-sets", folder.at("src"), folder.at("tgt")});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("--model: this is required"), std::string::npos) << without.err;
  EXPECT_NE(run_tril({"find-rate", "--help"}).out.find("required here too"), std::string::npos);
  EXPECT_EQ(with({"--lowest-rate", "2", "--highest-rate", "1"}).code, 2);
  const Ran learn = with({"--guided-alignment", "learn"});
  EXPECT_EQ(learn.code, 2);
  EXPECT_NE(learn.err.find("tril align"), std::string::npos) << learn.err;
}

}  // namespace
}  // namespace tril
