// `tril train` in a directory that holds a run: started over, continued, or with files that were lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "support/paths.h"
#include "support/run_program.h"
#include "support/train_program.h"

namespace tril::train_again_test {
namespace {

using Data = test::TrainData;

TEST(Train, OverwriteLooksBeforeItRemoves) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const auto bytes = [&](const std::string& name) { return file_text(data.folder.at("model/" + name)); };
  const std::string last = bytes("checkpoint/last"), weights = bytes("model.safetensors"), vocab = bytes("vocab.json");
  EXPECT_EQ(last, "state-00000002\n");
  const std::string none = data.folder.at("none"), good = data.folder.at("train.tgt");
  const std::vector<std::vector<std::string>> mistakes{
      {"--train-sets", none, good}, {"--valid-sets", none, good}, {"--vocab", none}, {"--vocab", good}};
  for (std::vector<std::string> mistake : mistakes) {
    mistake.emplace_back("--overwrite");
    const Ran ran = run_tril(data.train("model", mistake));
    EXPECT_NE(ran.code, 0) << mistake[0];
    EXPECT_TRUE(contains(ran.err, mistake[1])) << ran.err;
    EXPECT_EQ(bytes("checkpoint/last"), last) << mistake[0];
    EXPECT_TRUE(bytes("model.safetensors") == weights && bytes("vocab.json") == vocab) << mistake[0];
  }
  EXPECT_EQ(run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n").code, 0);
}

// After a later failure, no weights are left beside the new vocabulary.
TEST(Train, OverwriteLeavesNoOldWeightsBesideANewVocabulary) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const std::string blank = data.folder.write("blank", "\n\n");
  const Ran early = run_tril(data.train("model", {"--valid-sets", blank, blank, "--vocab-size", "50", "--overwrite"}));
  EXPECT_NE(early.code, 0);
  EXPECT_TRUE(contains(early.err, "--valid-sets")) << early.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/config.json"))) << "a mistake that is seen in time";
  const std::string longer = data.folder.write("longer", file_text(data.folder.at("train.src")) + "a\n");
  const Ran unequal = run_tril(
      data.train("model", {"--train-sets", longer, data.folder.at("train.tgt"), "--vocab-size", "50", "--overwrite"}));
  EXPECT_NE(unequal.code, 0);
  EXPECT_TRUE(contains(unequal.err, "has 300 lines")) << unequal.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/config.json"))) << "a mistake that is seen in time";
  // The disk has room for a vocabulary, but not for weights.
  const auto little_room = [&] {
    const rlimit limit{std::filesystem::file_size(data.folder.at("model/model.safetensors")) - 1, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  };
  const Ran ran =
      run_tril(data.train("model", {"--vocab-size", "50", "--after", "2u", "--overwrite", "--d-model", "64"}),
               Launch{.input = "", .stdout_to = "", .before = little_room, .meanwhile = {}});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/config.json"))) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/model.safetensors")));
  EXPECT_EQ(run_tril(data.train("model", {"--vocab-size", "50", "--after", "2u", "--overwrite"})).code, 0);
}

// Whatever interrupts a run while it clears the directory, the same command can start again.
TEST(Train, TheModelIsRemovedBeforeTheStatesAre) {
  const Data data;
  ASSERT_EQ(run_tril(data.train("model", {"--after", "2u"})).code, 0);
  const std::string report = data.folder.at("model/report.html"), last = data.folder.at("model/checkpoint/last");
  std::filesystem::remove(report);
  std::filesystem::create_directories(report + "/in the way");
  const Ran stopped = run_tril(data.train("model", {"--after", "2u", "--overwrite"}));
  EXPECT_EQ(stopped.code, 1);
  EXPECT_TRUE(contains(stopped.err, "report.html") && contains(stopped.err, "cannot be removed")) << stopped.err;
  EXPECT_FALSE(std::filesystem::exists(data.folder.at("model/config.json")));
  std::filesystem::remove_all(report);
  const Ran ran = run_tril(data.train("model", {"--after", "2u"}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(contains(ran.err, "nothing left to do")) << ran.err;
  EXPECT_EQ(file_text(last), "state-00000002\n");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data.folder.at("model/checkpoint")))
    names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"last", "lock", "state-00000002"}));
  EXPECT_EQ(run_tril({"translate", "--model", data.folder.at("model")}, "ab c\n").code, 0);
}

// A run is read with its own vocabulary, whatever kind its predecessor in the directory had.
TEST(Train, OverwriteLeavesNoOldTokenizer) {
  const Data data;
  const std::string model = data.folder.at("model");
  ASSERT_EQ(run_tril(data.train("model", {"--after", "1u"})).code, 0);
  const auto characters = [&](const std::string& after) {
    return std::vector<std::string>{"train",
                                    "--arch",
                                    "gpt2",
                                    "--model",
                                    model,
                                    "--train-sets",
                                    data.folder.at("train.src"),
                                    "--vocab-type",
                                    "char",
                                    "--d-model",
                                    "16",
                                    "--num-heads",
                                    "2",
                                    "--ffn-dim",
                                    "32",
                                    "--dec-depth",
                                    "1",
                                    "--max-length",
                                    "24",
                                    "--max-tokens",
                                    "200",
                                    "--threads",
                                    "1",
                                    "--after",
                                    after};
  };
  std::vector<std::string> anew = characters("1u");
  anew.emplace_back("--overwrite");
  Ran ran = run_tril(anew);
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const char* name : {"source.spm", "target.spm"})
    EXPECT_FALSE(std::filesystem::exists(model + "/" + name)) << name;
  ran = run_tril(characters("2u"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  ran = run_tril({"generate", "--model", model, "--max-new-tokens", "2"}, "a");
  EXPECT_EQ(ran.code, 0) << ran.err;

  // The files of --vocab stay, even if another tokenizer is made from them.
  std::filesystem::remove_all(model);
  ASSERT_EQ(run_tril(data.train("first", {"--after", "1u"})).code, 0);
  std::filesystem::create_directory(model);
  const std::string given = model + "/tokenizer.model";
  std::filesystem::copy_file(data.folder.at("first/source.spm"), given);
  ran = run_tril(data.train("model", {"--after", "1u", "--vocab", given}));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(given));
}

// After a mistake in the first command, the corrected one begins.
TEST(Train, AMistakeBeforeTheFirstUpdateIsNotARunToGoOnWith) {
  const Data data;
  const std::string blank = data.folder.write("blank", "\n\n");
  const std::vector<std::vector<std::string>> mistakes{{"--valid-sets", blank, blank}, {"--max-length", "1"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    const std::string model = "model" + mistake[0];
    EXPECT_NE(run_tril(data.train(model, mistake)).code, 0) << mistake[0];
    const Ran ran = run_tril(data.train(model, {"--after", "2u", "--d-model", "24", "--vocab-size", "50"}));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(file_text(data.folder.at(model + "/checkpoint/last")), "state-00000002\n");
    const Ran other = run_tril(data.train(model, {"--after", "3u", "--d-model", "16", "--vocab-size", "50"}));
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(contains(other.err, "d-model was 24, now 16")) << other.err;
  }
}

TEST(Train, WhatCannotBeGoneOnWithNamesOverwrite) {
  const Data data;
  const std::vector<std::string> usual = data.train("model", {"--after", "2u"});
  ASSERT_EQ(run_tril(usual).code, 0);
  const std::string state = data.folder.at("model/checkpoint/state-00000002/"), text = file_text(state + "state.json");
  for (const std::string& damaged : {text.substr(0, text.size() / 2), std::string("{}"), std::string()}) {
    std::ofstream(state + "state.json") << damaged;
    const Ran ran = run_tril(usual);
    EXPECT_GT(ran.code, 0);
    EXPECT_TRUE(contains(ran.err, "state.json") && contains(ran.err, "--overwrite")) << ran.err;
  }
  std::ofstream(state + "state.json") << text;
  std::filesystem::resize_file(state + "weights.safetensors", 100);
  const Ran cut = run_tril(usual);
  EXPECT_GT(cut.code, 0);
  EXPECT_TRUE(contains(cut.err, "weights.safetensors") && contains(cut.err, "--overwrite")) << cut.err;

  ASSERT_EQ(run_tril(data.train("other", {"--after", "2u"})).code, 0);
  std::ofstream(data.folder.at("train.src"), std::ios::app) << "a b\n";
  std::ofstream(data.folder.at("train.tgt"), std::ios::app) << "b a\n";
  const Ran changed = run_tril(data.train("other", {"--after", "4u"}));
  EXPECT_EQ(changed.code, 2);
  EXPECT_TRUE(contains(changed.err, "--overwrite")) << changed.err;
  EXPECT_EQ(run_tril(data.train("other", {"--after", "2u", "--overwrite"})).code, 0);
}

TEST(Train, SaysWhereNothingIsLeftToDo) {
  const Data data;
  const Ran first = run_tril(data.train("model", {"--after", "6u", "--valid-freq", "1u"}));
  ASSERT_EQ(first.code, 0);
  EXPECT_TRUE(contains(first.err, "done: 6 updates") && contains(first.err, "best loss") &&
              contains(first.err, "tril translate --model " + data.folder.at("model")))
      << first.err;
  const std::string log = file_text(data.folder.at("model/train.jsonl"));
  for (const char* after : {"6u", "3u"}) {
    const Ran again = run_tril(data.train("model", {"--after", after, "--valid-freq", "1u"}));
    EXPECT_EQ(again.code, 0);
    EXPECT_TRUE(contains(again.err, std::string("nothing left to do at update 6 (epoch 1): --after ") + after))
        << again.err;
  }
  EXPECT_EQ(file_text(data.folder.at("model/train.jsonl")), log);

  const std::vector<std::string> stalls{"--valid-freq", "1u", "--early-stopping", "2",       "--learn-rate", "1e-30",
                                        "--ema",        "0",  "--lr-schedule",    "constant"};
  ASSERT_TRUE(contains(run_tril(data.train("stalled", stalls)).err, "stopped early"));
  const Ran again = run_tril(data.train("stalled", stalls));
  EXPECT_EQ(again.code, 0);
  EXPECT_TRUE(contains(again.err, "nothing left to do at update 3") && contains(again.err, "--early-stopping"))
      << again.err;
}

// The directory of a finished run from which someone has removed or emptied a file.
TEST(Train, GoingOnWritesAnewWhatTheModelHasLost) {
  const Data data;
  const std::vector<std::vector<std::string>> kinds{
      {"--after", "20u", "--learn-rate", "0.003"},  // the last validation is the best
      {"--after", "9u", "--valid-sets", "--ema", "0", "--save-freq", "4u"}};
  for (const std::vector<std::string>& kind : kinds) {
    const std::string model = kind[1] + "model";
    const auto run = [&] {
      std::vector<std::string> args = data.train(model, kind);
      if (kind[2] == "--valid-sets") {  // none
        args.erase(std::find(args.begin(), args.end(), "--valid-sets"));
        const auto freq = std::find(args.begin(), args.end(), "--valid-freq");
        args.erase(freq, freq + 2);
      }
      return run_tril(args);
    };
    const auto file = [&](const std::string& name) { return data.folder.at(model + "/" + name); };
    const Ran first = run();
    ASSERT_EQ(first.code, 0) << first.err;
    for (const char* name : {"model.safetensors", "config.json", "generation_config.json"})
      for (const bool empties : {false, true}) {
        const std::string text = file_text(file(name));
        if (empties)
          data.folder.write(model + "/" + name, "");
        else
          std::filesystem::remove(file(name));
        const Ran again = run();
        EXPECT_EQ(again.code, 0) << again.err;
        EXPECT_TRUE(contains(again.err, file(name) + ": is missing or empty; writing it again")) << again.err;
        EXPECT_TRUE(file_text(file(name)) == text) << name;
      }
    EXPECT_FALSE(contains(run().err, "gone"));
    std::filesystem::remove(file("config.json"));
    std::filesystem::remove(file("model.safetensors"));
    EXPECT_EQ(run().code, 0);
    EXPECT_TRUE(std::filesystem::exists(file("config.json")) && std::filesystem::exists(file("model.safetensors")));
  }
}

TEST(Train, ALostBestModelThatNoStateHasIsToldOf) {
  const Data data;
  const std::vector<std::string> stalls{"--valid-freq", "1u", "--early-stopping", "2",       "--learn-rate", "1e-30",
                                        "--ema",        "0",  "--lr-schedule",    "constant"};
  ASSERT_EQ(run_tril(data.train("model", stalls)).code, 0);
  const std::string weights = data.folder.at("model/model.safetensors");
  const std::string text = file_text(weights);
  std::filesystem::remove(weights);
  const Ran again = run_tril(data.train("model", stalls));
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(contains(again.err, weights + ": is missing or empty; it held the best weights, of update 1,"))
      << again.err;
  EXPECT_FALSE(contains(again.err, "the model is in")) << again.err;
  data.folder.write("model/model.safetensors", text);
  EXPECT_EQ(run_tril(data.train("model", stalls)).code, 0);
}

// A missing model of a run without validation is written when the next one is due, even if the run is stopped before.
TEST(Train, ALostModelThatIsToComeAgainIsNoFailure) {
  const Data data;
  std::vector<std::string> args = data.train("model", {"--after", "7u"});
  const auto valid = std::find(args.begin(), args.end(), "--valid-sets");
  args.erase(valid, valid + 3);
  const auto freq = std::find(args.begin(), args.end(), "--valid-freq");
  args.erase(freq, freq + 2);
  ASSERT_EQ(run_tril(args).code, 0);
  std::filesystem::remove(data.folder.at("model/model.safetensors"));
  *(std::find(args.begin(), args.end(), "--after") + 1) = "9u";
  const Ran longer = run_tril(args);
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_TRUE(std::filesystem::exists(data.folder.at("model/model.safetensors")));
}

TEST(Train, LostLinesOfTheReportAreToldOf) {
  const Data data;
  const std::vector<std::string> more{"--after", "25u", "--disp-freq", "10u", "--valid-freq", "10u"};
  ASSERT_EQ(run_tril(data.train("model", more)).code, 0);
  ASSERT_FALSE(contains(run_tril(data.train("model", more)).err, "gone"));
  const auto after = [&](const std::string& name, const std::string& text) {
    const std::string whole = file_text(data.folder.at("model/" + name));
    data.folder.write("model/" + name, text);
    const Ran again = run_tril(data.train("model", more));
    EXPECT_EQ(again.code, 0) << again.err;
    data.folder.write("model/" + name, whole);
    return again.err;
  };
  for (const char* name : {"train.jsonl", "samples.jsonl"}) {
    const std::string file = data.folder.at(std::string("model/") + name), whole = file_text(file);
    EXPECT_TRUE(contains(after(name, ""), file + ": ")) << name;
    EXPECT_TRUE(contains(after(name, whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1)), file + ": ")) << name;
  }
  const std::string file = data.folder.at("model/train.jsonl"), whole = file_text(file);
  EXPECT_TRUE(contains(after("train.jsonl", whole.substr(whole.find('\n') + 1)), "its first lines are missing"));
  EXPECT_TRUE(contains(after("train.jsonl", whole.substr(0, whole.find("\"update\":10"))), "its line of update 20"));
}

}  // namespace
}  // namespace tril::train_again_test
