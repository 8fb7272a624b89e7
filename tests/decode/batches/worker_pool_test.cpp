#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "decode/batches/parallel.h"
#include "kern/gemm.h"

namespace tril::search::worker_pool_test {
namespace {

// Calls the library of float32 products, whose threads' runtime has an opinion on where threads run.
void multiply() {
  const float a = 2, b = 3;
  float c = 0;
  kern::gemm({.m = 1, .n = 1, .k = 1, .a = &a, .a_stride = 1, .b = &b, .b_stride = 1, .c = &c, .c_stride = 1});
  EXPECT_EQ(c, 6);
}

// Each worker runs on its core, as the system says, and the caller, which is one of them, is free afterwards.
TEST(WorkerPool, WorkersRunOnTheirCores) {
  const std::vector<int> allowed = processors_of_thread();
  ASSERT_FALSE(allowed.empty());
  multiply();
  const auto policy = memory_policy();
  const int threads = std::min(3, static_cast<int>(allowed.size()));
  for (const std::string pin : {"none", "compact", "spread"}) {
    Placement placement = placement_of({.pin = pin}, threads);
    placement.numa = policy ? Numa::interleave : Numa::none;
    WorkerPool pool(threads, kern::best(), placement);
    std::mutex mutex;
    std::condition_variable all_came;
    bool waits = true;
    std::map<int, std::vector<int>> cores;
    pool.run(64, [&](Context&, int worker, std::size_t) {
      multiply();
      std::unique_lock lock(mutex);
      cores[worker] = processors_of_thread();
      all_came.notify_all();  // none takes the jobs of those that have not begun
      if (waits)
        waits = all_came.wait_for(lock, std::chrono::seconds(30), [&] { return std::ssize(cores) == threads; });
      if (policy) {
        EXPECT_EQ(memory_policy()->mode, local_memory().mode) << "a worker's caches are its own";
      }
    });
    ASSERT_EQ(std::ssize(cores), threads);
    if (pin != "none") {
      std::set<std::vector<int>> distinct;
      for (const auto& [worker, bound] : cores) distinct.insert(bound);
      EXPECT_EQ(std::ssize(distinct), threads) << "each has a core of its own";
    }
    for (const auto& [worker, bound] : cores)
      EXPECT_EQ(bound, pin == "none" ? allowed : std::vector<int>{placement.cores[static_cast<std::size_t>(worker)]});
    EXPECT_EQ(processors_of_thread(), allowed);
    EXPECT_EQ(memory_policy(), policy);
  }
}

}  // namespace
}  // namespace tril::search::worker_pool_test
