#include "train/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace tril::train {
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

}  // namespace
}  // namespace tril::train
