#include "base/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/little_memory.h"

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

// A thread that comes late to a round finds its parts done, and takes none of the next round.
TEST(Team, EachPartIsDoneOnceWhoeverComes) {
  for (const int size : {1, 2, 3, 6}) {
    Team team(size);
    std::vector<int> done(static_cast<std::size_t>(size));
    for (int round = 0; round < 3000; ++round) {
      const int parts = 1 + round % size;
      std::fill(done.begin(), done.end(), 0);
      team.share(parts, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
      for (int part = 0; part < size; ++part)
        ASSERT_EQ(done[static_cast<std::size_t>(part)], part < parts ? 1 : 0) << round;
      if (round % 7 != 0) continue;
      std::atomic<int> came{0};
      team.run([&](int) { team.barrier(), ++came; });
      ASSERT_EQ(came, size);
    }
    EXPECT_THROW(team.share(size + 1, [](int) {}), Error);
  }
}

TEST(Team, TheLowestPartThatFailsIsTold) {
  Team team(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::atomic<int> done{0};
    try {
      team.share(4, [&](int part) {
        ++done;
        if (part > 0 && part != repeat % 4) throw std::runtime_error("part " + std::to_string(part));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()), repeat % 4 == 1 ? "part 2" : "part 1");
    }
    EXPECT_EQ(done, 4);
  }
}

TEST(Team, TooFewThreadsAreAnErrorAndNotTheEnd) {
  if (!test::can_limit_memory()) GTEST_SKIP() << "no limit on addresses holds";
  EXPECT_EXIT(test::end_with_little_memory([] { Team team(1000); }), testing::ExitedWithCode(7),
              "threads: only [0-9]+ of 1000 can be started");
}

}  // namespace
}  // namespace tril
