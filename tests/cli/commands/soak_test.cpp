// A run with all kinds of trouble: a learning rate that breaks its first updates, processes killed at random points,
// full disks. The result is bit-identical to a run disturbed only by the rate. TRIL_SOAK_UPDATES sets the number of
// updates (make soak: 10,000).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/rng.h"
#include "support/paths.h"
#include "support/run_program.h"
#include "support/soak_pairs.h"

namespace tril::soak_test {
namespace {

struct Trouble {
  std::chrono::milliseconds kill_after{0};  ///< 0: never
  std::int64_t largest_file = 0;            ///< bytes; 0: no limit
};

Ran run_troubled(std::vector<std::string> args, const Trouble& trouble) {
  Launch launch;
  if (trouble.largest_file > 0)
    launch.before = [&] {
      const rlimit limit{static_cast<rlim_t>(trouble.largest_file), static_cast<rlim_t>(trouble.largest_file)};
      setrlimit(RLIMIT_FSIZE, &limit);
    };
  if (trouble.kill_after.count() > 0)
    launch.meanwhile = [&](pid_t child) {
      std::this_thread::sleep_for(trouble.kill_after);
      kill(child, SIGKILL);
    };
  return run_tril(std::move(args), launch);
}

TEST(Soak, KilledLimitedAndDivergedRunsEndWithTheSameModel) {
  const ScratchFolder folder;
  write_pairs(folder, 300);
  const char* wanted = std::getenv("TRIL_SOAK_UPDATES");
  const std::string updates = wanted ? wanted : "250";
  const auto train = [&](const std::string& model) {
    return std::vector<std::string>{"train",
                                    "--model",
                                    folder.at(model),
                                    "--train-sets",
                                    folder.at("train.src"),
                                    folder.at("train.tgt"),
                                    "--vocab-size",
                                    "40",
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
                                    "200",
                                    "--threads",
                                    "2",
                                    "--after",
                                    updates + "u",
                                    "--save-freq",
                                    "9u",
                                    "--disp-freq",
                                    "5u",
                                    "--warmup",
                                    "0",
                                    "--lr-schedule",
                                    "constant",
                                    "--optimizer",  // every weight grows a thousandfold, until products overflow
                                    "adafactor",
                                    "--learn-rate",
                                    "1000",
                                    "--ema",
                                    "0.9",
                                    "--nan-guard",
                                    "rollback",
                                    "--spike-guard",
                                    "30",
                                    "--max-rollbacks",
                                    "1000",
                                    "--rollback-rate",
                                    "1e-5"};
  };
  const auto begin = std::chrono::steady_clock::now();
  const Ran whole = run_tril(train("whole"));
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find("rollback 1 of 1000"), std::string::npos) << whole.err;

  const auto seed = static_cast<std::uint64_t>(begin.time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSequence random(seed, 1);
  int kills = 0, limits = 0;
  Ran last;
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    Trouble trouble;
    if (kills + limits >= 40) {
      // the rest of the way without trouble
    } else if (random.below(4) == 0) {
      trouble.largest_file = 1 + static_cast<std::int64_t>(random.below(60'000));
    } else {
      trouble.kill_after = std::chrono::milliseconds(
          1 + random.below(static_cast<std::uint64_t>(std::max<std::int64_t>(took / (wanted ? 30 : 3), 100))));
    }
    last = run_troubled(train("troubled"), trouble);
    if (last.code == 0) break;
    if (last.signal == SIGKILL) {
      ++kills;
      continue;
    }
    ASSERT_EQ(last.code, 1) << last.err;
    ASSERT_GT(trouble.largest_file, 0) << last.err;
    // Its messages go to a file too, which may reach the limit.
    const bool cut = static_cast<std::int64_t>(last.err.size()) >= trouble.largest_file;
    ASSERT_TRUE(cut || last.err.find("File too large") != std::string::npos) << last.err;
    ++limits;
  }
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_GT(kills + limits, 0);
  for (const char* file : {"/model.safetensors", "/config.json"}) {
    const std::string expected = file_text(folder.at(std::string("whole") + file));
    EXPECT_FALSE(expected.empty()) << file;
    EXPECT_TRUE(file_text(folder.at(std::string("troubled") + file)) == expected)
        << file << " after " << kills << " kills and " << limits << " limits";
  }
  EXPECT_EQ(file_text(folder.at("troubled/checkpoint/last")), file_text(folder.at("whole/checkpoint/last")));
  EXPECT_EQ(run_tril({"translate", "--model", folder.at("troubled")}, "ab c\n").code, 0);
}

}  // namespace
}  // namespace tril::soak_test
