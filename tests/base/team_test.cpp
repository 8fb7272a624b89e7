#include "base/team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace tril {
namespace {

TEST(Team, EveryMemberWorksAndBarriersKeepStep) {
  for (int size : {1, 2, 3, 5}) {
    Team team(size);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<int> at(static_cast<std::size_t>(size), -1);
      std::atomic<int> mistakes{0};
      team.run([&](int member) {
        for (int step = 0; step < 100; ++step) {
          at[static_cast<std::size_t>(member)] = step;
          team.barrier();
          for (int other : at) mistakes += other != step;
          team.barrier();
        }
      });
      EXPECT_EQ(mistakes, 0) << size;
    }
  }
}

TEST(Team, AnExceptionEndsTheRoundAndNotTheTeam) {
  Team team(3);
  for (int failing : {0, 1, 2}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        team.run([&](int member) {
          team.barrier();
          if (member == failing) throw std::runtime_error("member " + std::to_string(member));
          team.barrier();
          team.barrier();
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(std::string(e.what()), "member " + std::to_string(failing));
      }
    }
    std::atomic<int> came{0};
    team.run([&](int) { team.barrier(), ++came; });
    EXPECT_EQ(came, 3);
  }
}

// In a process of its own, whose memory ends after a few threads' stacks.
TEST(Team, TooFewThreadsAreAnErrorAndNotTheEnd) {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::int64_t bytes = pages * sysconf(_SC_PAGESIZE);
  if (bytes > std::int64_t{1} << 40) GTEST_SKIP() << "a sanitizer has taken the address space";
  const auto try_many = [&] {
    const auto most = static_cast<rlim_t>(bytes + (std::int64_t{200} << 20));
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    try {
      Team team(1000);
    } catch (const Error& e) {
      std::fputs(e.what(), stderr);
      _exit(7);
    }
    _exit(0);
  };
  EXPECT_EXIT(try_many(), testing::ExitedWithCode(7), "threads: only [0-9]+ of 1000 can be started");
}

}  // namespace
}  // namespace tril
