// Processes of `tril translate` that share one text, for tests of the program.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "support/contains.h"
#include "support/run_program.h"
#include "support/tiny_marian.h"

namespace tril::corpus_work {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

inline void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

inline Words operator+(Words a, const Words& b) {
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
    EXPECT_TRUE(contains(ran.err, part));
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

// Long sentences, so that a process can be caught while it works on a block.
inline std::string slow_lines(int blocks) {
  std::string text;
  for (int i = 0; i < blocks * 400; ++i) text += "a dog runs in the snow and two men play with a red ball\n";
  return text;
}

// Pauses a process in the middle of a block, when some blocks are done.
inline bool stop_at_work(const Process& one, const std::string& blocks) {
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

}  // namespace tril::corpus_work
