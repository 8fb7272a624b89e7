#include "base/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tril {
namespace {

TEST(Cores, QuotasOfControlGroups) {
  EXPECT_EQ(cores_of_quota("200000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("1000 100000"), 1);
  EXPECT_EQ(cores_of_quota("max 100000"), std::nullopt);
  EXPECT_EQ(cores_of_quota(""), std::nullopt);
  EXPECT_EQ(cores_of_quota("100000 0"), std::nullopt);
  EXPECT_EQ(cores_of_quota("-1 100000"), std::nullopt);
}

TEST(Cores, OfAProcessThatIsBound) {
  EXPECT_GE(available_cores(), 1);
  std::thread([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(available_cores(), 1);
  }).join();
}

}  // namespace
}  // namespace tril
