// A run of several processes with all kinds of trouble: one is killed, paused for a while or for good, or its disk is
// full; the number of processes changes. The result is bit-identical to an undisturbed run. TRIL_SOAK_RANK_SECONDS sets
// its duration in seconds (make soak: 1,200).
#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "base/rng.h"
#include "support/run_ranks.h"
#include "support/soak_pairs.h"

namespace tril {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// What is awaited comes within seconds, but for a machine whose processors others use too. A trouble may wait twice, which is less
// than the time limit of the test: so a run that never ends is reported with its trouble.
constexpr auto patience = std::chrono::minutes(4);
// A job in which a rank is stopped ends within this time, or the rank had left it before: then mpirun alone waits for it.
constexpr auto time_to_end = std::chrono::seconds(30);

enum class Trouble : std::uint8_t { none, killed, paused, stopped, full };

// How attempts ended, and how often each trouble occurred.
struct Soak {
  ScratchFolder folder;
  RandomSequence random;
  std::string updates;
  std::vector<Trouble> to_come;
  std::uint64_t most_delay;  // milliseconds until the next trouble
  int events[5] = {}, attempts = 0, rounds = 0;

  explicit Soak(std::uint64_t seed, bool longer)
      : random(seed, 1), updates(longer ? "1500u" : "200u"), most_delay(longer ? 1500 : 600) {
    write_pairs(folder, 300);
  }

  std::vector<std::string> train(const std::string& model, int accumulate) const {
    return {"train",
            "--model",
            folder.at(model),
            "--train-sets",
            folder.at("train.src"),
            folder.at("train.tgt"),
            "--vocab-size",
            "40",
            "--d-model",
            "64",
            "--num-heads",
            "2",
            "--ffn-dim",
            "160",
            "--enc-depth",
            "1",
            "--dec-depth",
            "1",
            "--max-tokens",
            "150",
            "--threads",
            "1",
            "--after",
            updates,
            "--save-freq",
            "9u",
            "--disp-freq",
            "5u",
            "--warmup",
            "10",
            "--ema",
            "0.9",
            "--optimizer",
            "adamw",
            "--deterministic",
            "--accumulate",
            std::to_string(accumulate),
            "--rank-timeout",
            "3"};
  }

  // Every kind occurs before any repeats.
  Trouble next_trouble() {
    if (to_come.empty()) to_come = {Trouble::killed, Trouble::paused, Trouble::stopped, Trouble::full};
    const auto which = to_come.begin() + static_cast<std::ptrdiff_t>(random.below(to_come.size()));
    const Trouble trouble = *which;
    to_come.erase(which);
    return trouble;
  }

  std::string saved() const { return file_text(folder.at("troubled/checkpoint/last")); }
  bool begun() const { return saved().starts_with("state-") && saved() != "state-00000000\n"; }

  // Starts the command once. @return whether it completed
  bool attempt(int accumulate, int first_ranks, bool in_peace) {
    ++attempts;
    const std::string before = saved();
    const int ranks = begun() ? 2 + static_cast<int>(random.below(3)) : first_ranks;
    Trouble last = Trouble::none;
    const Ran ran = RankJob(folder, ranks).run(train("troubled", accumulate), [&](RankJob& job) {
      while (!in_peace && !job.ended()) {
        const milliseconds delay(static_cast<int>(50 + random.below(most_delay)));
        if (wait_until([&] { return job.ended(); }, delay)) return;
        const int rank = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
        last = next_trouble();
        ++events[static_cast<int>(last)];
        switch (last) {
          case Trouble::killed:
            job.send(rank, SIGKILL);
            break;
          case Trouble::paused:
            job.send(rank, SIGSTOP);
            std::this_thread::sleep_for(milliseconds(static_cast<int>(random.below(600))));
            job.send(rank, SIGCONT);
            continue;
          case Trouble::stopped:  // before the ranks have connected, nobody can miss it
            if (!wait_until([&] { return job.ended() || saved() != before; }, patience))
              ADD_FAILURE() << "nothing was saved";
            job.send(rank, SIGSTOP);
            if (!wait_until([&] { return job.ended(); }, time_to_end) && job.is_last(rank)) job.send(rank, SIGCONT);
            break;
          default:
            job.fill_disk(rank, random.below(20'000));
        }
        EXPECT_TRUE(job.ends_within(patience)) << "trouble " << static_cast<int>(last) << " of rank " << rank;
        return;
      }
    });
    const std::string what =
        "trouble " + std::to_string(static_cast<int>(last)) + ", " + std::to_string(ranks) + " ranks: " + ran.err;
    if (last == Trouble::none || last == Trouble::paused) {
      EXPECT_EQ(ran.code, 0) << what;
    } else if (ran.code != 0 && saved() != before) {  // otherwise the ranks may not have connected before
      const auto told = [&](const char* text) { return ran.err.find(text) != std::string::npos; };
      if (last == Trouble::stopped) {
        EXPECT_TRUE(told("has not responded") || told("has not left the job")) << what;
      } else if (last == Trouble::full) {
        EXPECT_TRUE(told("File too large")) << what;
      }
    }
    return ran.code == 0;
  }

  // One run from beginning to end, with at most this many disturbed starts.
  void round(int most_troubled) {
    ++rounds;
    const int ranks = std::array{2, 4}[random.below(2)];
    std::filesystem::remove_all(folder.at("troubled"));
    bool done = false;
    for (int i = 0; !done && i < most_troubled + 3; ++i) done = attempt(4 / ranks, ranks, i >= most_troubled);
    EXPECT_TRUE(done);
    for (const char* path : {"/model.safetensors", "/config.json", "/checkpoint/last"}) {
      const std::string expected = file_text(folder.at(std::string("whole") + path));
      EXPECT_FALSE(expected.empty()) << path;
      EXPECT_TRUE(file_text(folder.at(std::string("troubled") + path)) == expected)
          << path << " after " << attempts << " starts, " << rounds << " runs";
    }
  }
};

TEST(RankSoak, KilledStoppedAndFullRanksEndWithTheSameModel) {
  if (!have_mpirun()) GTEST_SKIP() << "there is no mpirun here: several processes are not tested";
  const char* wanted = std::getenv("TRIL_SOAK_RANK_SECONDS");
  const auto start = Clock::now();
  const char* given = std::getenv("TRIL_SOAK_SEED");
  const std::uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : static_cast<std::uint64_t>(start.time_since_epoch().count());
  SCOPED_TRACE("TRIL_SOAK_SEED=" + std::to_string(seed));
  Soak soak(seed, wanted != nullptr);
  const Ran whole = run_tril(soak.train("whole", 4));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto end = start + std::chrono::seconds(wanted ? std::atoi(wanted) : 0);
  do {
    soak.round(wanted ? 30 : 3);
  } while (!HasFailure() && Clock::now() < end);
  std::cout << "  " << soak.rounds << " runs, " << soak.attempts << " starts: " << soak.events[1] << " ranks killed, "
            << soak.events[2] << " stopped for a while, " << soak.events[3] << " for good, " << soak.events[4]
            << " disks full\n";
}

}  // namespace
}  // namespace tril
