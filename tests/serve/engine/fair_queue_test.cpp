// Scheduling order: shares of tokens, priorities, order within a client, limits, and that nothing is lost.
#include "serve/engine/fair_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace tril::serve {
namespace {

WorkPtr work(const std::string& client, std::int32_t length, int priority = 0) {
  static const auto options = std::make_shared<const search::SearchPlan>();
  auto w = std::make_shared<Work>();
  w->client = client;
  w->priority = priority;
  w->options = options;
  w->request.max_length = length;
  return w;
}

constexpr std::int64_t any = 1'000'000;

TEST(FairQueue, ClientsGetTheSameShareOfTokensInPiecesOfWhateverSize) {
  FairQueue queue(4000, 64);
  for (int i = 0; i < 1000; ++i) queue.push(std::vector{work("small", 9)});
  for (int i = 0; i < 100; ++i) queue.push(std::vector{work("large", 199)});
  for (int i = 0; i < 500; ++i) queue.push(std::vector{work("middle", 39)});
  EXPECT_EQ(queue.clients(), 3u);
  std::map<std::string, std::int64_t> got;
  for (int i = 0; i < 600; ++i) {
    const WorkPtr next = queue.pop(any);
    got[next->client] += next->cost();
  }
  for (const auto& [client, tokens] : got)
    EXPECT_NEAR(static_cast<double>(tokens), static_cast<double>(got["small"]), 264) << client;
}

TEST(FairQueue, AClientThatComesLaterDoesNotWaitForAllThatWasThereBefore) {
  FairQueue queue(4000, 50);
  for (int i = 0; i < 1000; ++i) queue.push(std::vector{work("first", 49)});
  queue.push(std::vector{work("second", 49)});
  int before = 0;
  while (queue.pop(any)->client != "second") ++before;
  EXPECT_LE(before, 2);
}

TEST(FairQueue, HigherPrioritiesComeFirstAndAClientsOwnInOrder) {
  FairQueue queue(100, 10);
  std::vector<WorkPtr> mine;
  for (int i = 0; i < 6; ++i) mine.push_back(work("me", 5 + i, i % 2));
  queue.push(mine);
  queue.push(std::vector{work("you", 7, 0), work("you", 8, 2)});
  EXPECT_EQ(queue.pop(any)->priority, 2);
  for (int i : {1, 3, 5}) EXPECT_EQ(queue.pop(any), mine[static_cast<std::size_t>(i)]);
  std::vector<WorkPtr> rest;
  while (WorkPtr next = queue.pop(any))
    if (next->client == "me") rest.push_back(next);
  EXPECT_EQ(rest, (std::vector{mine[0], mine[2], mine[4]}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(FairQueue, AllOfARequestOrNoneAndHalfOfTheRoomForEach) {
  FairQueue queue(10, 10);
  EXPECT_FALSE(queue.push(std::vector<WorkPtr>(6, work("a", 5))));
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_TRUE(queue.push(std::vector<WorkPtr>(5, work("a", 5))));
  EXPECT_FALSE(queue.push(std::vector{work("a", 5)}));
  EXPECT_TRUE(queue.push(std::vector<WorkPtr>(4, work("b", 5))));
  EXPECT_FALSE(queue.push(std::vector<WorkPtr>(2, work("c", 5))));
  EXPECT_TRUE(queue.push(std::vector{work("c", 5)}));
  EXPECT_EQ(queue.size(), 10u);
  EXPECT_EQ(queue.size("b"), 4u);
}

TEST(FairQueue, WhoDoesNotFitStaysTheNext) {
  FairQueue queue(10, 10);
  const WorkPtr large = work("a", 100), small = work("a", 5);
  queue.push(std::vector{large, small});
  EXPECT_EQ(queue.pop(50), nullptr);
  EXPECT_EQ(queue.pop(50), nullptr);
  EXPECT_EQ(queue.pop(101), large);
  EXPECT_EQ(queue.pop(50), small);
  EXPECT_EQ(queue.pop(any), nullptr);
}

TEST(FairQueue, WhoMayNotHaveMoreIsPassedOver) {
  FairQueue queue(16, 1000);
  for (int i = 0; i < 3; ++i) queue.push(std::vector{work("greedy", 9)});
  queue.push(std::vector{work("modest", 9)});
  const auto not_greedy = [](const Work& w) { return w.client != "greedy"; };
  EXPECT_EQ(queue.pop(any, not_greedy)->client, "modest");
  EXPECT_EQ(queue.pop(any, not_greedy), nullptr);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.pop(any)->client, "greedy");
}

TEST(FairQueue, TellsWhoHasWaitedLongest) {
  FairQueue queue(8, 1000);
  EXPECT_EQ(queue.first_arrival(), Clock::time_point::max());
  const auto late = work("a", 9), early = work("b", 9, 1);
  early->arrived = late->arrived - std::chrono::seconds(1);
  queue.push(std::vector{late});
  EXPECT_EQ(queue.first_arrival(), late->arrived);
  queue.push(std::vector{early});
  EXPECT_EQ(queue.first_arrival(), early->arrived);
  EXPECT_EQ(queue.pop(any), early);
  EXPECT_EQ(queue.first_arrival(), late->arrived);
}

TEST(FairQueue, NobodyIsLost) {
  RandomSequence random(3, 1);
  FairQueue queue(200, 30);
  std::size_t in = 0, out = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto what = random.below(10);
    if (what < 5) {
      std::vector<WorkPtr> list;
      const std::string client(1, static_cast<char>('a' + random.below(6)));
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n)
        list.push_back(
            work(client, 1 + static_cast<std::int32_t>(random.below(80)), static_cast<int>(random.below(3))));
      for (const WorkPtr& w : list) w->cancelled = random.below(10) == 0;
      queue.push(list) ? in += list.size() : refused += list.size();
    } else if (what < 9) {
      out += queue.pop(static_cast<std::int64_t>(random.below(200))) ? 1 : 0;
    } else {
      out += queue.take_gone(Clock::now()).size();
    }
    ASSERT_EQ(queue.size(), in - out);
  }
  out += queue.take_all().size();
  EXPECT_EQ(in, out);
  EXPECT_EQ(queue.clients(), 0u);
}

TEST(FairQueue, WhoIsLateOrCancelledIsTakenOff) {
  FairQueue queue(10, 10);
  const WorkPtr stays = work("a", 5), late = work("a", 5), cancelled = work("b", 5);
  late->deadline = Clock::now() - std::chrono::seconds(1);
  queue.push(std::vector{late, stays});
  queue.push(std::vector{cancelled});
  cancelled->cancelled = true;
  EXPECT_EQ(queue.take_gone(Clock::now()), (std::vector{late, cancelled}));
  EXPECT_EQ(queue.pop(any), stays);
}

}  // namespace
}  // namespace tril::serve
