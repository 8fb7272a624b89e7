// The thread for work besides decoding: its limits, and requests that have been admitted elsewhere.
#include "serve/engine/side_worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace tril::serve {
namespace {

TEST(SideWorker, HasRoomForWhatIsAdmittedAlready) {
  SideWorker worker({.most_waiting = 4});
  std::promise<void> begun, go_on;
  std::atomic<int> run = 0;
  ASSERT_TRUE(worker.push("anna", [&](search::WorkerPool&) {
    begun.set_value();
    go_on.get_future().wait();
  }));
  begun.get_future().wait();
  const auto count = [&](search::WorkerPool&) { ++run; };
  EXPECT_TRUE(worker.push("anna", count));
  EXPECT_TRUE(worker.push("anna", count));
  EXPECT_FALSE(worker.push("anna", count)) << "one client has half of the places";
  EXPECT_TRUE(worker.push("anna", count, SideWorker::Room::given));
  EXPECT_TRUE(worker.push("bert", count));
  EXPECT_FALSE(worker.push("bert", count)) << "all places are taken";
  EXPECT_TRUE(worker.push("bert", count, SideWorker::Room::given));
  go_on.set_value();
  worker.drain();
  EXPECT_EQ(run, 5);
}

// Two threads run two jobs at the same time: each waits here for the other.
TEST(SideWorker, ThreadsRunSideBySide) {
  SideWorker worker({.threads = 2});
  std::promise<void> first, second;
  std::atomic<std::size_t> most = 0;
  worker.push("anna", [&](search::WorkerPool&) {
    first.set_value();
    second.get_future().wait();
    most = worker.running();
  });
  worker.push("bert", [&](search::WorkerPool&) {
    first.get_future().wait();
    second.set_value();
  });
  worker.drain();
  EXPECT_GE(most, 1U);
  EXPECT_EQ(worker.running(), 0U);
}

}  // namespace
}  // namespace tril::serve
