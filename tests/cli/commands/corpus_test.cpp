// Several processes translate a text, by shards or in one directory: whatever happens to them, the output equals that
// of one process, byte for byte. TRIL_SOAK_LINES asks for more lines (make soak: a million).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/rng.h"
#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A background run of the program. If still running at the end of the scope, it is killed.
class Process {
 public:
  explicit Process(Words args, const std::function<void()>& before = {}) : err_(folder_.at("err")) {
    args.insert(args.begin(), test::tril_program());
    std::vector<char*> argv;
    for (std::string& word : args) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    dup2(open("/dev/null", O_RDWR), 0);
    dup2(open("/dev/null", O_RDWR), 1);
    dup2(open(err_.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    if (before) before();
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~Process() {
    if (alive()) signal(SIGKILL), wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { kill(pid_, number); }
  bool alive() {
    if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return !ended_;
  }
  /// Its exit code, or minus the signal that ended it.
  int wait() {
    if (!ended_) waitpid(pid_, &status_, 0);
    ended_ = true;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  /// Pauses the process, and waits until it is paused. False: it has ended.
  bool stop() const {
    signal(SIGSTOP);
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT) == 0 &&
           info.si_code == CLD_STOPPED;
  }
  /// Likewise, for a process that must end soon.
  int wait_for(int seconds) {
    for (int i = 0; i < seconds * 100 && alive(); ++i) pause(10);
    if (alive()) signal(SIGKILL);
    return wait();
  }
  std::string err() const { return file_text(err_); }

 private:
  ScratchFolder folder_;
  std::string err_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

class Corpus : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new ScratchFolder;
    model = write_tiny_marian(*folder);
  }
  static void TearDownTestSuite() { delete folder; }
  void SetUp() override { fs::remove_all(work()); }

  static std::string work() { return folder->at("work"); }
  static Words command(const Words& more) {
    return Words{"translate", "-m", model, "-b", "1", "--threads", "1", "--deterministic"} + more;
  }
  static Words together(const std::string& in, const std::string& out, const Words& more = {}) {
    return command(Words{"-i", in, "-o", out, "--work-dir", work()} + more);
  }
  /// The output of a single process.
  static std::string whole(const std::string& in, const Words& more = {}) {
    const Ran ran = run_tril(command(Words{"-i", in} + more));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  }
  static std::string some_lines(std::int64_t count, std::uint64_t seed = 1) {
    const char* const words[] = {"a", "dog", "runs", "in", "the", "snow", "two", "men", "play", "with", "red", "ball"};
    RandomSequence random(seed, 5);
    std::string text;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::uint64_t n = random.below(5); n > 0; --n) text += std::string(words[random.below(12)]) + " ";
      text += "\n";
    }
    return text;
  }
  static std::string zipped(const std::string& name, const std::string& text) {
    const std::string path = folder->at(name);
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  static void expect_error(const Ran& ran, int code, const std::string& part) {
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  }
  static std::int64_t blocks_there() {
    std::int64_t n = 0;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(work() + "/blocks", none))
      n += entry.path().filename().string().find(".tmp-") == std::string::npos ? 1 : 0;
    return n;
  }

  static inline ScratchFolder* folder = nullptr;
  static inline std::string model;
};

TEST_F(Corpus, ShardsInARowAreTheWhole) {
  const std::string text = some_lines(50) + "a dog", plain = folder->write("plain", text),
                    packed = zipped("packed.gz", text);
  std::string beginnings;
  for (int i = 0; i < 51; ++i) beginnings += i % 3 == 0 ? "the\n" : "\n";
  const std::string prefix = folder->write("prefix", beginnings);
  const std::vector<Words> ways = {
      {}, {"--json"}, {"--target-prefix", prefix}, {"--sampling", "--seed", "7", "--n-best", "2"}};
  for (const std::string& in : {plain, packed})
    for (const Words& way : ways) {
      const std::string expected = whole(in, way);
      for (const int n : {1, 4}) {
        std::string joined;
        for (int i = 1; i <= n; ++i)
          joined += whole(in, way + Words{"--shard", std::to_string(i) + "/" + std::to_string(n)});
        EXPECT_TRUE(joined == expected) << in << " " << n;
      }
    }
  const std::string few = folder->write("few", "a dog\nthe snow");  // fewer lines than shards
  std::string joined;
  for (const char* shard : {"1/3", "2/3", "3/3"}) joined += whole(few, {"--shard", shard});
  EXPECT_EQ(joined, whole(few));
  EXPECT_EQ(whole(folder->write("empty", ""), {"--shard", "2/2"}), "");
}

TEST_F(Corpus, ShardsThatCannotBeAreNamed) {
  const std::string in = folder->write("plain", some_lines(5));
  for (const char* shard : {"0/3", "4/3", "3", "1/", "/2", "a/b", "1/2/3", "-1/2", "1/0", "1/99999999999"})
    expect_error(run_tril(command({"-i", in, "--shard", shard})), 2, "--shard: expected I/N");
  expect_error(run_tril(command({"--shard", "1/2"}), "a dog\n"), 2, "--shard: standard input cannot be divided");
  EXPECT_EQ(run_tril(command({"--shard", "1/1"}), "a dog\n").code, 0);
  expect_error(run_tril(command({"-i", in, "--shard", "1/2", "--work-dir", work()})), 2,
               "choose one way to divide the text");
  const std::string few = folder->write("few", "a\n");
  expect_error(run_tril(command({"-i", in, "--shard", "1/2", "--target-prefix", few})), 2,
               "has 1 line, but the text has 5");
}

TEST_F(Corpus, ProcessesTogetherAreOneProcess) {
  const std::string text = some_lines(400), out = folder->at("out"), plain = folder->write("plain", text);
  std::string beginnings;
  for (int i = 0; i < 400; ++i) beginnings += i % 3 == 0 ? "the\n" : "\n";
  const std::string prefix = folder->write("prefix", beginnings);
  const std::vector<Words> ways = {{}, {"--json", "--target-prefix", prefix}, {"--sampling", "--n-best", "2"}};
  for (const std::string& in : {plain, zipped("packed.gz", text)})
    for (const Words& way : ways) {
      fs::remove_all(work());
      fs::remove(out);
      const Words args = together(in, out, way + Words{"--block-lines", "7"});
      Process a(args), b(args), c(args);
      EXPECT_EQ(a.wait_for(120), 0) << a.err();
      EXPECT_EQ(b.wait_for(120), 0) << b.err();
      EXPECT_EQ(c.wait_for(120), 0) << c.err();
      EXPECT_TRUE(file_text(out) == whole(in, way)) << in;
      EXPECT_FALSE(fs::exists(work() + "/blocks"));
      const auto written = fs::last_write_time(out);
      EXPECT_EQ(run_tril(args).code, 0) << "one that comes late";
      EXPECT_EQ(fs::last_write_time(out), written);
    }
  fs::remove(out);
  expect_error(run_tril(together(plain, out)), 2, "started with different options");
}

TEST_F(Corpus, TextsOfFewLines) {
  const std::string out = folder->at("out");
  for (const std::string text : {"", "a dog", "\n", "\r\n", "a dog\ntwo men",
                                 "\xef\xbb\xbf"
                                 "a dog\r\ntwo men\r\n"}) {
    fs::remove_all(work());
    fs::remove(out);
    const std::string in = folder->write("text", text);
    const Words args = together(in, out, {"--block-lines", "1"});
    std::vector<std::unique_ptr<Process>> all;
    for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<Process>(args));
    for (const auto& one : all) EXPECT_EQ(one->wait_for(60), 0) << one->err();
    EXPECT_TRUE(fs::exists(out));
    EXPECT_EQ(file_text(out), whole(in)) << text;
  }
}

TEST_F(Corpus, WhatIsNotUtf8IsToldBeforeAnythingIsDone) {
  const std::string out = folder->at("out"), in = folder->write("text", some_lines(20) + "b\xff\n" + some_lines(20));
  fs::remove(out);
  expect_error(run_tril(together(in, out, {"--block-lines", "4"})), 1, "line 21: is not valid UTF-8");
  EXPECT_EQ(blocks_there(), 0);
  const Ran ran = run_tril(together(in, out, {"--block-lines", "4", "--skip-invalid"}));
  expect_error(ran, 0, "lines that are not UTF-8, treated as empty: 1");
  EXPECT_EQ(file_text(out), whole(in, {"--skip-invalid"}));
}

TEST_F(Corpus, OtherWorkIsRefused) {
  const std::string in = folder->write("text", some_lines(30)), out = folder->at("out");
  const Words few{"--block-lines", "5"};
  ASSERT_EQ(run_tril(command(Words{"-i", in, "--work-dir", work(), "--keep-blocks"} + few)).code, 0);
  EXPECT_EQ(blocks_there(), 6);
  const auto refused = [&](const Words& args, int code, const std::string& part) {
    expect_error(run_tril(args), code, part);
    EXPECT_EQ(blocks_there(), 6);
  };
  refused(together(in, out, {"--max-length", "5"}), 2, "different options: max-length was unset, now 5; pass");
  refused(together(in, out, {"--json"}), 2, "json was false, now true");
  refused(together(in, out, {"--block-lines", "6"}), 2, "started with 5");
  folder->write("text", some_lines(30, 2));
  refused(together(in, out), 1, "started with different files: input was ");
  folder->write("text", some_lines(30));
  const std::string config = model + "/generation_config.json", as_it_was = file_text(config);
  std::ofstream(config) << as_it_was << "\n";
  refused(together(in, out), 1, "started with different files: model was ");
  std::ofstream(config) << as_it_was;

  std::string joined;
  const auto manifest = nlohmann::json::parse(file_text(work() + "/manifest.json"));
  for (const auto& block : manifest["blocks"]) joined += file_text(work() + "/" + block["file"].get<std::string>());
  EXPECT_EQ(joined, whole(in));
  fs::remove(out);
  EXPECT_EQ(run_tril({"translate", "-m", model, "-b", "1", "--deterministic", "--batch-size", "5", "-i", in, "-o", out,
                      "--work-dir", work()})
                .code,
            0)
      << "blocks that were kept are put together";
  EXPECT_EQ(file_text(out), joined);
  fs::remove(out);
  expect_error(run_tril(together(in, out)), 1, "no longer exists");

  fs::create_directories(folder->at("full/of/things"));
  expect_error(run_tril(command({"-i", in, "-o", out, "--work-dir", folder->at("full")})), 1, "neither empty nor");
  expect_error(run_tril(command({"-i", in, "--work-dir", work()})), 2, "cannot share standard output");
  expect_error(run_tril(command({"-o", out, "--work-dir", work()}), "a"), 2, "standard input cannot be divided");
  expect_error(run_tril(command({"-i", in, "--block-lines", "3"})), 2, "--block-lines");
}

// Long sentences, so that a process can be caught while it works on a block.
std::string slow_lines(int blocks) {
  std::string text;
  for (int i = 0; i < blocks * 400; ++i) text += "a dog runs in the snow and two men play with a red ball\n";
  return text;
}

TEST_F(Corpus, ASignalGivesTheBlockBack) {
  const std::string in = folder->write("slow", slow_lines(40)), out = folder->at("out");
  fs::remove(out);
  const Words args = together(in, out, {"--block-lines", "400", "--json"});
  {
    Process one(args);
    for (int i = 0; i < 3000 && blocks_there() < 2; ++i) pause(5);
    one.signal(SIGTERM);
    EXPECT_EQ(one.wait_for(30), 1) << one.err();
    EXPECT_NE(one.err().find("the same command resumes from there"), std::string::npos) << one.err();
  }
  EXPECT_FALSE(fs::exists(out));
  EXPECT_GE(blocks_there(), 2);
  for (const auto& entry : fs::directory_iterator(work() + "/blocks"))
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos);
  EXPECT_EQ(run_tril(args).code, 0);
  EXPECT_EQ(file_text(out), whole(in, {"--json"}));
}

// Pauses a process in the middle of a block, when some blocks are done.
bool stop_at_work(const Process& one, const std::string& blocks) {
  const auto some_of = [&](bool done) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(blocks, none))
      if (done == (entry.path().filename().string().find(".tmp-") == std::string::npos)) return true;
    return false;
  };
  for (int i = 0; i < 6000; ++i, pause(5)) {
    if (!some_of(true) || !some_of(false)) continue;
    if (!one.stop()) return false;
    if (some_of(false)) return true;
    one.signal(SIGCONT);
  }
  return false;
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
  EXPECT_NE(limited.err().find("File too large"), std::string::npos) << limited.err();
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
  EXPECT_NE(limited.err().find("File too large"), std::string::npos) << limited.err();
  EXPECT_FALSE(fs::exists(out));
  EXPECT_EQ(blocks_there(), 4);
  const Ran other = run_tril(args);
  expect_error(other, 0, "this process translated 0");
  EXPECT_TRUE(file_text(out) == expected);
}

// The launcher's environment variables suffice.
TEST_F(Corpus, ALaunchersProcessesShareTheTextByThemselves) {
  const std::string in = folder->write("text", some_lines(300)), out = folder->at("launched");
  const auto rank = [](int r) {
    return [r] {
      setenv("OMPI_COMM_WORLD_RANK", std::to_string(r).c_str(), 1);
      setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
      setenv("PMIX_NAMESPACE", "prterun-host@1/2", 1);
    };
  };
  const Words args = command({"-i", in, "-o", out});
  {
    Process a(args, rank(0)), b(args, rank(1));
    EXPECT_EQ(a.wait_for(60), 0) << a.err();
    EXPECT_EQ(b.wait_for(60), 0) << b.err();
    EXPECT_TRUE(file_text(out) == whole(in));
    EXPECT_TRUE(fs::exists(out + ".work")) << "one has not been there yet";
    Process late(args, rank(2));
    EXPECT_EQ(late.wait_for(60), 0) << late.err();
    EXPECT_NE(late.err().find("this process translated 0"), std::string::npos) << late.err();
    EXPECT_FALSE(fs::exists(out + ".work"));
    EXPECT_TRUE(file_text(out) == whole(in));
  }
  {  // a process whose launcher was killed is still working when the same command starts again
    const auto of_job = [&](const char* job, const char* of) {
      return [=] {
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", of, 1);
        setenv("PMI_JOBID", job, 1);
      };
    };
    const std::string slow = folder->write("slow", slow_lines(8));
    const Words slowly = command({"-i", slow, "-o", out, "--block-lines", "100"});
    Process orphan(slowly, of_job("one", "9"));
    ASSERT_TRUE(stop_at_work(orphan, out + ".work/blocks")) << orphan.err();
    Process anew(slowly, of_job("two", "2"));
    for (int i = 0; i < 3000 && !fs::exists(out + ".work/blocks/000031"); ++i) pause(2);
    orphan.signal(SIGCONT);
    EXPECT_EQ(orphan.wait_for(60), 0) << orphan.err();
    EXPECT_EQ(anew.wait_for(60), 0) << anew.err();
    EXPECT_TRUE(fs::exists(out + ".work"));
    EXPECT_TRUE(file_text(out) == whole(slow));
    Process second(slowly, [&] {
      of_job("two", "2")();
      setenv("PMI_RANK", "1", 1);
    });
    EXPECT_EQ(second.wait_for(60), 0) << second.err();
    EXPECT_FALSE(fs::exists(out + ".work"));
  }
  Launch launch{.input = "a dog\n", .stdout_to = {}, .before = rank(1), .meanwhile = {}};
  expect_error(run_tril(command({}), launch), 2, "pass --input and --output");
  EXPECT_EQ(run_tril(command({"--shard", "1/1"}), launch).code, 0);
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
}  // namespace tril
