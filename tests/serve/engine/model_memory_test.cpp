// Which models are unloaded, and which requests may wait for one, as functions of sizes and times.
#include "serve/engine/model_memory.h"

#include <gtest/gtest.h>

#include "serve/engine/waiting_requests.h"
#include "support/contains.h"
#include "support/error_of.h"

namespace tril::serve {
namespace {

Clock::time_point at(int seconds) {
  return Clock::time_point{} + std::chrono::seconds(seconds);
}

TEST(ModelMemory, IdleModelsGoFirstTheLeastRecentlyUsedFirst) {
  const std::vector<ModelUse> loaded{{.model = 0, .bytes = 10, .busy = false, .last_use = at(5)},
                                     {.model = 1, .bytes = 20, .busy = true, .last_use = at(1)},
                                     {.model = 2, .bytes = 30, .busy = false, .last_use = at(3)},
                                     {.model = 3, .bytes = 40, .busy = true, .last_use = at(2)}};
  using List = std::vector<std::size_t>;
  EXPECT_EQ(models_to_unload(loaded, 0, Unload::any), List{});
  EXPECT_EQ(models_to_unload(loaded, -5, Unload::any), List{});
  EXPECT_EQ(models_to_unload(loaded, 1, Unload::any), List{2});
  EXPECT_EQ(models_to_unload(loaded, 30, Unload::any), List{2});
  EXPECT_EQ(models_to_unload(loaded, 31, Unload::any), (List{2, 0}));
  EXPECT_EQ(models_to_unload(loaded, 41, Unload::any), (List{2, 0, 1}));
  EXPECT_EQ(models_to_unload(loaded, 1000, Unload::any), (List{2, 0, 1, 3}));
  EXPECT_EQ(models_to_unload(loaded, 1000, Unload::idle), (List{2, 0})) << "none with running requests";
}

TEST(ModelMemory, RetriesWaitTwiceAsLongEachTime) {
  EXPECT_EQ(seconds_until_retry(1, 1, 60), 1);
  EXPECT_EQ(seconds_until_retry(2, 1, 60), 2);
  EXPECT_EQ(seconds_until_retry(6, 1, 60), 32);
  EXPECT_EQ(seconds_until_retry(7, 1, 60), 60);
  EXPECT_EQ(seconds_until_retry(2000, 1, 60), 60);
}

TEST(ModelMemory, AModelAboveTheBoundIsRefusedWithBothSizes) {
  check_model_size("de", std::int64_t{1} << 40, 0);
  check_model_size("de", 100, 100);
  const std::string error = error_of([] { check_model_size("de", 3 << 29, 1 << 30); });
  EXPECT_TRUE(contains(error, "model_memory", "model de takes 1.50 GiB", "1.00 GiB")) << error;
  EXPECT_EQ(memory_text(1024), "1.0 KiB");
  EXPECT_EQ(memory_text(5 << 20), "5.00 MiB");
  EXPECT_EQ(memory_text(1000 << 20), "1000 MiB");
}

Waiter waiter(const std::string& client, std::size_t bytes = 0, int deadline = 1000) {
  return {.client = client, .bytes = bytes, .deadline = at(deadline)};
}

TEST(WaitingRequests, HaveRoomForHalfOfThemFromOneClient) {
  WaitingRequests list(4, 100);
  list.add(0, waiter("a"));
  EXPECT_TRUE(list.has_room(waiter("a")));
  list.add(0, waiter("a"));
  EXPECT_FALSE(list.has_room(waiter("a")));
  EXPECT_TRUE(list.has_room(waiter("b", 50)));
  EXPECT_FALSE(list.has_room(waiter("b", 101)));
  list.add(1, waiter("b", 50));
  EXPECT_FALSE(list.has_room(waiter("b", 1))) << "half of the bytes";
  EXPECT_TRUE(list.has_room(waiter("c", 50)));
  list.add(1, waiter("c"));
  EXPECT_FALSE(list.has_room(waiter("d"))) << "four are there";
  EXPECT_TRUE(WaitingRequests(4, 100).has_room(waiter("a", 1000))) << "a request alone may be large";
}

TEST(WaitingRequests, LeaveByModelOrByDeadline) {
  WaitingRequests list(10, 100);
  EXPECT_EQ(list.next_deadline(), Clock::time_point::max());
  for (int i = 0; i < 6; ++i) list.add(i % 2, waiter(std::to_string(i), 1, 10 * (6 - i)));
  EXPECT_EQ(list.size(1), 3u);
  EXPECT_EQ(list.next_deadline(), at(10));
  std::vector<Waiter> late = list.take_late(at(20));
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(late[0].client, "4");
  EXPECT_EQ(late[1].client, "5");
  std::vector<Waiter> first = list.take(0);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].client, "0") << "in the order of their arrival";
  EXPECT_EQ(list.take_all().size(), 2u);
  EXPECT_EQ(list.size(), 0u);
}

}  // namespace
}  // namespace tril::serve
