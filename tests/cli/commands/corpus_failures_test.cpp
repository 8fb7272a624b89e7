// Processes that share a text are stopped, killed or left without disk space: the output equals that of one process,
// byte for byte. TRIL_SOAK_LINES asks for more lines (make soak: a million).
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "support/corpus_program.h"

namespace tril::corpus_work {
namespace {

using Clock = std::chrono::steady_clock;

TEST_F(Corpus, ASignalGivesTheBlockBack) {
  const std::string in = folder->write("slow", slow_lines(40)), out = folder->at("out");
  fs::remove(out);
  const Words args = together(in, out, {"--block-lines", "400", "--json"});
  {
    Process one(args);
    for (int i = 0; i < 3000 && blocks_there() < 2; ++i) pause(5);
    one.signal(SIGTERM);
    EXPECT_EQ(one.wait_for(30), 1) << one.err();
    EXPECT_TRUE(contains(one.err(), "the same command resumes from there"));
  }
  EXPECT_FALSE(fs::exists(out));
  EXPECT_GE(blocks_there(), 2);
  for (const auto& entry : fs::directory_iterator(work() + "/blocks"))
    EXPECT_FALSE(contains(entry.path().string(), ".tmp-"));
  EXPECT_EQ(run_tril(args).code, 0);
  EXPECT_EQ(file_text(out), whole(in, {"--json"}));
}

// Others wait for a paused process, since it may continue; they do not wait for a killed one.
TEST_F(Corpus, OneThatStandsStillDoesNoHarm) {
  const std::string in = folder->write("slow", slow_lines(20)), out = folder->at("out"),
                    expected = whole(in, {"--json"});
  for (const bool killed : {false, true}) {
    fs::remove(out);
    fs::remove_all(work());
    const Words args = together(in, out, {"--block-lines", "400", "--json"});
    Process still(args);
    ASSERT_TRUE(stop_at_work(still, work() + "/blocks")) << still.err();
    Process other(args);
    for (int i = 0; i < 12000 && blocks_there() < 19; ++i) pause(5);
    pause(300);
    EXPECT_TRUE(other.alive()) << "it waits for the last block";
    EXPECT_FALSE(fs::exists(out));
    still.signal(killed ? SIGKILL : SIGCONT);
    EXPECT_EQ(still.wait_for(60), killed ? -SIGKILL : 0) << still.err();
    EXPECT_EQ(other.wait_for(60), 0) << other.err();
    EXPECT_TRUE(file_text(out) == expected);
  }
}

// A file server revokes the locks of a machine that it lost: two processes then do the same block.
TEST_F(Corpus, OneThatLostItsLockDoesNoHarm) {
  const std::string in = folder->write("slow", slow_lines(8)), out = folder->at("out"),
                    expected = whole(in, {"--json"});
  for (const bool keep : {true, false}) {
    fs::remove(out);
    fs::remove_all(work());
    const Words args = command(Words{"-i", in, "--work-dir", work(), "--block-lines", "400", "--json"} +
                               (keep ? Words{"--keep-blocks"} : Words{"-o", out}));
    Process lost(args);
    for (int i = 0; i < 3000 && blocks_there() < 1; ++i) pause(2);
    lost.signal(SIGSTOP);
    const std::string state = work() + "/state";
    std::ofstream(folder->at("state")) << file_text(state);
    fs::rename(folder->at("state"), state);  // another file of the same name, which has no locks
    const Ran other = run_tril(args);
    EXPECT_EQ(other.code, 0) << other.err;
    lost.signal(SIGCONT);
    const int code = lost.wait_for(60);
    std::string found = file_text(out);
    if (keep) {
      EXPECT_EQ(code, 0) << lost.err();
      for (int b = 0; b < 8; ++b) found += file_text(work() + "/blocks/00000" + std::to_string(b));
      EXPECT_EQ(blocks_there(), 8);
    }
    EXPECT_TRUE(found == expected);
  }
}

// A full disk ends one process; another takes its block.
TEST_F(Corpus, AFullDiskEndsOneProcessAlone) {
  const std::string in = folder->write("slow", slow_lines(20)), out = folder->at("out");
  fs::remove(out);
  const Words args = together(in, out, {"--block-lines", "400", "--json"});
  Process other(args);
  for (int i = 0; i < 3000 && blocks_there() < 1; ++i) pause(2);
  ASSERT_TRUE(other.stop()) << "or it may do all before the next one begins";
  ASSERT_LT(blocks_there(), 18);
  Process limited(args, [] {
    const rlimit limit{2000, 2000};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(limited.wait_for(60), 1) << limited.err();
  EXPECT_TRUE(contains(limited.err(), "File too large"));
  other.signal(SIGCONT);
  EXPECT_EQ(other.wait_for(60), 0) << other.err();
  EXPECT_TRUE(file_text(out) == whole(in, {"--json"}));
}

// Likewise if the disk has room for the blocks but not for the assembled output.
TEST_F(Corpus, AFullDiskLeavesTheBlocks) {
  const std::string in = folder->write("text", some_lines(400)), out = folder->at("out");
  fs::remove(out);
  const Words args = together(in, out, {"--block-lines", "100", "--json"});
  const std::string expected = whole(in, {"--json"});
  Process limited(args, [&] {
    const rlimit limit{expected.size() / 2, expected.size() / 2};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(limited.wait_for(60), 1) << limited.err();
  EXPECT_TRUE(contains(limited.err(), "File too large"));
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(blocks_there(), 4);
  const Ran other = run_tril(args);
  expect_error(other, 0, "this process translated 0");
  EXPECT_TRUE(file_text(out) == expected);
}

// Processes are killed at any point, paused for a while, and restarted, until all is done.
TEST_F(Corpus, SoakOfKilledProcesses) {
  const char* const wanted = std::getenv("TRIL_SOAK_LINES");
  const std::int64_t lines = wanted ? std::atoll(wanted) : 6000;
  const std::string in = folder->write("soak", some_lines(lines)), out = folder->at("out"), one = folder->at("one");
  const Words short_lines{"--max-length", "6", "--json"};  // with line numbers
  const auto begin = Clock::now();
  const Ran alone = run_tril(command(Words{"-i", in, "-o", one} + short_lines));
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  ASSERT_EQ(alone.code, 0) << alone.err;

  const auto seed = static_cast<std::uint64_t>(begin.time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomSequence random(seed, 1);
  fs::remove(out);
  const Words args = together(in, out, Words{"--block-lines", std::to_string(lines / 200)} + short_lines);
  constexpr std::size_t most = 4;
  std::vector<std::unique_ptr<Process>> running;
  std::int64_t kills = 0, stops = 0, starts = 0;
  const auto begin_together = Clock::now();
  for (bool done = false; !done;) {
    while (running.size() < most) running.push_back(std::make_unique<Process>(args)), ++starts;
    // Long enough that some blocks get done, short enough that there are many kills.
    pause(static_cast<int>(random.below(static_cast<std::uint64_t>(took * 1000 / (wanted ? 100 : 10)) + 30)));
    const std::size_t which = random.below(running.size());
    if (random.below(4) == 0 && running.size() > 1) {
      running[which]->signal(SIGSTOP);
      pause(static_cast<int>(random.below(300)));
      running[which]->signal(SIGCONT);
      ++stops;
    } else if (running[which]->alive()) {
      running[which]->signal(SIGKILL);
      kills += running[which]->wait() == -SIGKILL ? 1 : 0;  // otherwise it had just finished
    }
    for (std::size_t i = 0; i < running.size();) {
      if (running[i]->alive()) {
        ++i;
        continue;
      }
      const int code = running[i]->wait();
      EXPECT_TRUE(code == 0 || code == -SIGKILL) << code << running[i]->err();
      done = done || code == 0 || HasFailure();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (const auto& process : running) EXPECT_EQ(process->wait_for(120), 0) << process->err();
  const double took_together = std::chrono::duration<double>(Clock::now() - begin_together).count();

  const std::string expected = file_text(one), found = file_text(out);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), lines);
  EXPECT_TRUE(found == expected);
  if (wanted)
    std::printf(
        "%lld lines: alone %.0f s, %.0f lines/s; together %.0f s, %.0f lines/s; %lld starts, %lld kills, %lld stops\n",
        static_cast<long long>(lines), took, static_cast<double>(lines) / took, took_together,
        static_cast<double>(lines) / took_together, static_cast<long long>(starts), static_cast<long long>(kills),
        static_cast<long long>(stops));
}

}  // namespace
}  // namespace tril::corpus_work
