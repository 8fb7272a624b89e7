// `mpirun tril train` as a user sees it: several processes, killed, stopped, misconfigured.
#include <fmt/format.h>

#include "support/rank_runs.h"

namespace tril::ranks_test {
namespace {

TEST_F(RanksTest, InFixedOrderAnyNumberOfRanksMakesTheSameBits) {
  run_alone(fixed("alone", 1));
  run_ranks(2, fixed("two", 2));
  expect_same_run("two", "alone");
  const std::string told = run_ranks(4, fixed("four", 4));
  expect_same_run("four", "alone");
  EXPECT_TRUE(contains(told, "4 ranks of 1 thread")) << told;
  EXPECT_EQ(count_of(told, "done: 40 updates"), 1) << "one rank speaks for all: " << told;

  // Any number can resume: four, then three, then one alone.
  run_ranks(4, fixed("changing", 4, {"--after", "13u"}));
  run_ranks(3, fixed("changing", 4, {"--after", "27u"}));
  EXPECT_TRUE(std::filesystem::exists(folder.at("changing/checkpoint/state-00000027/moments-2-of-3.safetensors")));
  run_alone(fixed("changing", 4));
  EXPECT_EQ(figures("changing").back()["update"], 40);
  EXPECT_TRUE(file("changing", "checkpoint/state-00000040/weights.safetensors") ==
              file("alone", "checkpoint/state-00000040/weights.safetensors"));
}

// With optimizers of larger state, and with ranks that have nothing to do.
TEST_F(RanksTest, StateOfEveryKindGoesOnWithAnyNumberOfRanks) {
  const std::vector<Words> kinds{{"--optimizer", "muon", "--ema", "0.9", "--threads", "2"},
                                 {"--optimizer", "adafactor", "--average-checkpoints", "3", "--clip-norm", "0.1"},
                                 {"--optimizer", "adamw", "--optimizer-bits", "8"}};
  for (const Words& kind : kinds) {
    SCOPED_TRACE(kind[1]);
    const auto args = [&](const std::string& model, const std::string& after) {
      Words more = kind;
      more.insert(more.end(), {"--deterministic", "--accumulate", "2", "--after", after, "--valid-freq", "10u"});
      return train(kind[1] + model, more);
    };
    run_alone(args("alone", "30u"));
    run_alone(args("ranks", "10u"));
    EXPECT_TRUE(contains(run_ranks(3, args("ranks", "20u")), "1 of the 3 ranks have nothing to do"));
    run_ranks(2, args("ranks", "30u"));
    for (const char* name : {"/model.safetensors", "/checkpoint/last"})
      EXPECT_TRUE(file(kind[1] + "ranks", name) == file(kind[1] + "alone", name)) << name;
  }
}

// Sums in another order round differently.
TEST_F(RanksTest, RanksTrainWhatOneTrainsUpToRounding) {
  write_pairs(folder.at("text"), 200, 3);
  const std::vector<Words> kinds{
      {"--optimizer", "adam", "--ema", "0.5"},
      {"--optimizer", "lion", "--learn-rate", "0.001", "--average-checkpoints", "2"},
      {"--optimizer", "muon", "--r-drop", "2"},
      {"--optimizer", "adafactor", "--gradient-checkpointing", "--threads", "2"},
      {"--optimizer", "adamw", "--arch", "gpt2", "--train-sets", folder.at("text.src"), "--valid-sets",
       folder.at("valid.src"), "--vocab-type", "char", "--max-length", "20"},
      {"--optimizer", "adam", "--init-from", folder.at("0-start"), "--lora-rank", "2"},
  };
  run_alone(train("0-start", {"--after", "2u"}));
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(kinds[i]));
    const std::string name = std::to_string(i);
    const bool lion = kinds[i][1] == "lion";
    const Words usual = with(kinds[i], {"--save-freq", "4u", "--valid-freq", "4u"});
    run_alone(train(name + "alone", with(usual, {"--accumulate", "2", "--after", "8u"})));
    run_ranks(2, train(name + "ranks", with(usual, {"--after", "8u"})));
    run_alone(train(name + "first", with(usual, {"--accumulate", "2", "--after", "1u"})));

    expect_near_figures(name + "ranks", name + "alone", lion ? 5e-3 : 2e-4);
    const double distance = apart(name + "ranks", name + "alone", name + "first");
    EXPECT_LT(distance, lion ? 0.1 : 1e-3);
    RecordProperty("apart" + name, std::to_string(distance));
  }
}

TEST_F(RanksTest, GradientsMayTravelRounded) {
  run_ranks(2, train("fp32", {"--valid-freq", "10u"}));
  run_ranks(2, train("bf16", {"--valid-freq", "10u", "--reduce-precision", "bf16"}));
  const auto loss = [&](const std::string& model) { return state(model)["best"].get<double>(); };
  EXPECT_NEAR(loss("bf16"), loss("fp32"), 0.01 * loss("fp32"));
  EXPECT_NE(loss("bf16"), loss("fp32")) << "or nothing was rounded";

  const Ran ran = RankJob(folder, 2).run(fixed("neither", 2, {"--reduce-precision", "bf16"}));
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_EQ(count_of(ran.err, "--reduce-precision: "), 1) << ran.err;
  EXPECT_TRUE(contains(ran.err, "--deterministic")) << ran.err;
  EXPECT_EQ(run_tril(fixed("neither", 1, {"--reduce-precision", "bf16"})).code, 2) << "alone as well";
}

TEST_F(RanksTest, EverySentenceOfAnEpochIsSeenOnce) {
  const Words more{"--after", "2e", "--save-freq", "1e", "--valid-freq", "1e"};
  const auto with = [&](const char* accumulate) {
    Words all = more;
    all.insert(all.end(), {"--accumulate", accumulate});
    return all;
  };
  run_alone(train("alone", with("3")));
  run_ranks(3, train("ranks", with("1")));
  for (const char* key : {"updates", "epochs", "target_tokens", "corpus", "optimizer_steps"})
    EXPECT_EQ(state("ranks")[key], state("alone")[key]) << key;
  EXPECT_EQ(state("ranks")["epochs"], 2);
}

TEST_F(RanksTest, TranslationsForBleuAreSharedOut) {
  const Words more{"--valid-metrics", "bleu", "loss", "--valid-freq", "40u", "--valid-beam", "2"};
  run_alone(fixed("alone", 1, more));
  run_ranks(4, fixed("four", 4, more));
  expect_same_run("four", "alone");
  EXPECT_TRUE(contains(file("four", "train.jsonl"), "\"bleu\""));
}

// Waits for a new checkpoint.
void wait_for_progress(const RankJob& job, const ScratchFolder& folder, const std::string& model) {
  const auto last = [&] { return file_text(folder.at(model + "/checkpoint/last")); };
  const std::string before = last();
  EXPECT_TRUE(wait_until([&] {
    const std::string now = last();
    return job.ended() || (now.starts_with("state-") && now != "state-00000000\n" && now != before);
  })) << "nothing was saved";
}

TEST_F(RanksTest, OneThatIsKilledEndsTheJobWhichGoesOnToTheSameBits) {
  run_alone(fixed("alone", 1, {"--after", "400u"}));
  const Words args = fixed("killed", 2, {"--after", "400u"});
  for (int rank : {1, 0}) {
    const Ran ran = RankJob(folder, 2).run(args, [&](RankJob& job) {
      wait_for_progress(job, folder, "killed");
      job.send(rank, SIGKILL);
      EXPECT_TRUE(job.ends_within(seconds(60)));
    });
    EXPECT_NE(ran.code, 0) << ran.err;
  }
  EXPECT_GE(state("killed")["updates"], 20);
  EXPECT_LT(state("killed")["updates"], 400);
  run_ranks(2, args);
  expect_same_run("killed", "alone");
}

#ifdef TRIL_ULFM

TEST_F(RanksTest, OthersGoOnWithoutOneThatIsKilledToTheSameBits) {
  const auto args = [&](const std::string& model, const char* batches) {
    return train(model, {"--deterministic", "--accumulate", batches, "--after", "120u"});
  };
  run_alone(args("alone", "3"));
  for (int rank : {1, 0}) {
    const std::string model = "without-" + std::to_string(rank);
    const Ran ran = RankJob(folder, 3).with({"--with-ft", "ulfm"}).run(args(model, "1"), [&](RankJob& job) {
      wait_for_progress(job, folder, model);
      job.send(rank, SIGKILL);
      EXPECT_TRUE(job.ends_within(seconds(60)));
    });
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string told = fmt::format("rank {} ({}) lost: the 2 remaining ranks continue from update ", rank, host);
    EXPECT_EQ(count_of(ran.err, told), 1) << ran.err;
    EXPECT_EQ(count_of(ran.err, "done: 120 updates"), 1) << "one speaks for all: " << ran.err;
    expect_same_run(model, "alone");
  }
}

// From a point where only the initial checkpoint exists, until one rank is left.
TEST_F(RanksTest, TheLastOneGoesOnAlone) {
  const auto args = [&](const char* batches) {
    return train(batches, {"--deterministic", "--accumulate", batches, "--after", "300u", "--save-freq", "1000u",
                           "--valid-freq", "100u", "--overwrite"});
  };
  run_alone(args("3"));
  const Ran ran = RankJob(folder, 3).with({"--with-ft", "ulfm"}).run(args("1"), [&](RankJob& job) {
    int begun = 0;  // the number of starts, including this one
    for (int rank : {0, 2}) {
      ++begun;
      EXPECT_TRUE(wait_until([&] {
        const std::string log = file("1", "train.jsonl");
        return job.ended() || (count_of(log, "\"type\":\"run\"") == begun && count_of(log, "\"type\":\"train\"") > 20);
      }));
      job.send(rank, SIGKILL);
    }
    EXPECT_TRUE(job.ends_within(seconds(60)));
  });
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.err, "the 2 remaining ranks continue from update 0")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "the one remaining rank continues from update 0")) << ran.err;
  expect_same_run("1", "3");
}

// An error in one rank may be in all: the run does not continue without a rank that ended with an error.
TEST_F(RanksTest, AnErrorOfOneEndsAllThatOutliveADeath) {
  const Ran ran =
      RankJob(folder, 2).with({"--with-ft", "ulfm"}).run(fixed("full", 2, {"--after", "100000u"}), [&](RankJob& job) {
        wait_for_progress(job, folder, "full");
        job.fill_disk(1, 1000);
        EXPECT_TRUE(job.ends_within(seconds(60)));
      });
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(contains(ran.err, "File too large")) << ran.err;
  EXPECT_FALSE(contains(ran.err, " lost: ")) << ran.err;
}

#endif

TEST_F(RanksTest, OneThatIsToldToStopSavesAndEndsAll) {
  run_alone(fixed("alone", 1, {"--after", "400u"}));
  const Words args = fixed("stopped", 2, {"--after", "400u"});
  constexpr int launcher = -1;  // it passes on signals that do not end it
  for (const auto& [rank, signal] : {std::pair(1, SIGTERM), {0, SIGTERM}, {1, SIGUSR1}, {launcher, SIGUSR1}}) {
    const Ran ran = RankJob(folder, 2).run(args, [&, rank = rank, signal = signal](RankJob& job) {
      wait_for_progress(job, folder, "stopped");
      if (rank == launcher)
        job.send_launcher(signal);
      else
        job.send(rank, signal);
      EXPECT_TRUE(job.ends_within(seconds(60)));
    });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(count_of(ran.err, "stopped and saved"), 1) << ran.err;
  }
  EXPECT_LT(state("stopped")["updates"], 400);
  run_ranks(2, args);
  expect_same_run("stopped", "alone");
}

TEST_F(RanksTest, OneThatGivesNoSignOfLifeIsNamed) {
  for (int rank : {2, 0}) {
    const Ran ran =
        RankJob(folder, 3).run(train("silent", {"--after", "100000u", "--rank-timeout", "2"}), [&](RankJob& job) {
          wait_for_progress(job, folder, "silent");
          job.send(rank, SIGSTOP);
          EXPECT_TRUE(job.ends_within(seconds(60)));
        });
    EXPECT_NE(ran.code, 0);
    EXPECT_TRUE(contains(ran.err, "rank " + std::to_string(rank) + " (" + host + "): has not responded for 2 s"))
        << ran.err;
  }
  // A rank that returns in time is waited for.
  const Ran ran = RankJob(folder, 2).run(train("slept", {"--rank-timeout", "30", "--after", "60u"}), [&](RankJob& job) {
    wait_for_progress(job, folder, "slept");
    job.send(1, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    job.send(1, SIGCONT);
  });
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(RanksTest, OtherFilesOnOneRankAreToldByName) {
  for (const char* place : {"0", "1"}) {
    std::filesystem::create_directory(folder.at(place));
    write_pairs(folder.at(place + std::string("/train")), 300, *place == '0' ? 1 : 7);
  }
  RankJob job(folder, 2, "cd '" + folder.at("") + "'$RANK");
  const Ran other = job.run(train("other", {"--train-sets", "train.src", "train.tgt"}));
  EXPECT_EQ(other.code, 1) << other.err;
  EXPECT_TRUE(
      contains(other.err, "rank 1 (" + host + "): has different sentences in this update from rank 0 (" + host + ")"))
      << other.err;

  // A rank that lacks a file, or has another number of lines, reports it itself: only it knows.
  std::filesystem::remove(folder.at("1/train.tgt"));
  const Ran missing = job.run(train("missing", {"--train-sets", "train.src", "train.tgt"}));
  EXPECT_NE(missing.code, 0);
  EXPECT_TRUE(contains(missing.err, "train.tgt")) << missing.err;
  write_pairs(folder.at("1/train"), 299, 1);
  std::filesystem::copy_file(folder.at("0/train.src"), folder.at("1/train.src"),
                             std::filesystem::copy_options::overwrite_existing);
  const Ran shorter = job.run(train("shorter", {"--train-sets", "train.src", "train.tgt"}));
  EXPECT_NE(shorter.code, 0);
  EXPECT_TRUE(contains(shorter.err, "299")) << shorter.err;
}

TEST_F(RanksTest, AMistakeIsToldOnceAndExitsAsUsage) {
  const std::vector<std::pair<Words, std::string>> mistakes{
      {train("model", {"--max-tokns", "7"}), "--max-tokns"},
      {train("model", {"--max-tokens", "none"}), "--max-tokens"},
      {train("model", {"--d-model", "15"}), "15"},
      {train("model", {"--early-stopping", "2", "--valid-sets"}), "--valid-sets"},
      {train("model", {"--rank-timeout", "0"}), "--rank-timeout"},
  };
  for (const auto& [args, part] : mistakes) {
    const Ran ran = RankJob(folder, 3).run(args);
    EXPECT_EQ(ran.code, 2) << part << ": " << ran.err;
    EXPECT_EQ(count_of(ran.err, "tril train: "), 1) << part << ": " << ran.err;
    EXPECT_TRUE(contains(ran.err, part)) << ran.err;
  }
  // So are errors that only show once all have connected.
  run_ranks(2, train("model", {"--after", "2u"}));
  const Ran changed = RankJob(folder, 2).run(train("model", {"--after", "4u", "--seed", "9"}));
  EXPECT_EQ(changed.code, 2) << changed.err;
  EXPECT_EQ(count_of(changed.err, "tril train: "), 1) << changed.err;
}

TEST_F(RanksTest, AFullDiskOfOneEndsAllAndLeavesTheLastState) {
  run_alone(fixed("alone", 1, {"--after", "120u"}));
  const Words args = fixed("full", 2, {"--after", "120u"});
  for (int rank : {1, 0}) {
    const Ran ran = RankJob(folder, 2).run(args, [&](RankJob& job) {
      wait_for_progress(job, folder, "full");
      job.fill_disk(rank, 1000);
      EXPECT_TRUE(job.ends_within(seconds(60)));
    });
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_TRUE(contains(ran.err, "File too large")) << ran.err;
    EXPECT_EQ(count_of(ran.err, "tril train: "), 1) << ran.err;
    if (rank > 0) {
      EXPECT_TRUE(contains(ran.err, "rank 1 (" + host + "): ")) << ran.err;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder.at("full/checkpoint")))
      EXPECT_FALSE(entry.path().string().ends_with(".new"))
          << "what was begun takes no room: " << entry.path() << " after " << ran.err;
  }
  run_ranks(2, args);
  expect_same_run("full", "alone");
}

TEST_F(RanksTest, TwoJobsDoNotTrainInOneDirectory) {
  const Ran ran = RankJob(folder, 2).run(train("model", {"--after", "100000u"}), [&](RankJob& job) {
    wait_for_progress(job, folder, "model");
    const ScratchFolder beside;
    const Ran second = RankJob(beside, 1).run(train("model", {"--after", "100000u"}));
    EXPECT_EQ(second.code, 1) << second.err;
    EXPECT_TRUE(contains(second.err, "another process is training in this directory")) << second.err;
    job.send(0, SIGTERM);
  });
  EXPECT_EQ(ran.code, 0) << ran.err;
}

}  // namespace
}  // namespace tril::ranks_test
