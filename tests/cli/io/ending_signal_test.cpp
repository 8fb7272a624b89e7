// A command that a signal ends leaves no temporary file.
#include "cli/io/ending_signal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "base/file.h"
#include "support/run_program.h"

namespace tril::cli::ending_signal_test {
namespace {

using std::chrono::milliseconds;

// Writes a file in a process of its own, which waits before it commits, and goes on `later` after a signal, or never.
// @param sighup  what the process does with SIGHUP
// @return the status of waitpid()
int status_after(const ScratchFolder& folder, int signal, sighandler_t sighup, std::optional<milliseconds> later) {
  int begun[2], go_on[2];
  EXPECT_EQ(pipe(begun), 0);
  EXPECT_EQ(pipe(go_on), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (const int one : {SIGINT, SIGTERM, SIGUSR1}) std::signal(one, SIG_DFL);
    std::signal(SIGHUP, sighup);
    {
      const EndingSignal ending;
      AtomicFile file(folder.at("file"));
      file.write(std::string(100'000, 'x'));
      char byte = 0;
      if (::write(begun[1], &byte, 1) != 1 || ::read(go_on[0], &byte, 1) != 1) _exit(2);
      file.commit();
    }
    _exit(0);
  }
  char byte = 0;
  EXPECT_EQ(::read(begun[0], &byte, 1), 1);
  EXPECT_FALSE(std::filesystem::is_empty(folder.at("")));
  kill(child, signal);
  if (later) {
    std::this_thread::sleep_for(*later);
    EXPECT_EQ(::write(go_on[1], &byte, 1), 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  for (const int end : {begun[0], begun[1], go_on[0], go_on[1]}) close(end);
  return status;
}

TEST(EndingSignal, RemovesWhatIsUnfinished) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    SCOPED_TRACE(signal);
    const ScratchFolder folder;
    const int status = status_after(folder, signal, SIG_DFL, std::nullopt);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(std::filesystem::is_empty(folder.at("")));
  }
}

// nohup ignores SIGHUP for its command.
TEST(EndingSignal, LeavesIgnoredSignalsIgnored) {
  const ScratchFolder folder;
  const int status = status_after(folder, SIGHUP, SIG_IGN, milliseconds(200));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(std::filesystem::file_size(folder.at("file")), 100'000u);
}

TEST(EndingSignal, EndsAtOnce) {
  const auto begun = std::chrono::steady_clock::now();
  for (int n = 0; n < 100; ++n) const EndingSignal ending;  // each wait for a signal is half a second
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(25));
}

}  // namespace
}  // namespace tril::cli::ending_signal_test
