// Several threads stay within a bound of memory; a use that is larger than the bound is alone.
#include "model_io/source/memory_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tril::model {
namespace {

TEST(MemoryBudget, IsKeptByThreads) {
  constexpr std::size_t most = 100;
  MemoryBudget budget(most);
  std::atomic<std::size_t> used = 0;
  std::atomic<int> wrong = 0;
  const auto use_some = [&](std::size_t number) {
    for (std::size_t i = 0; i < 300; ++i) {
      const std::size_t bytes = 1 + (i * 37 + number * 11) % 150;  // some are larger than the bound
      const MemoryBudget::Use use(budget, bytes);
      const std::size_t now = used += bytes;
      if (now > most && now != bytes) ++wrong;
      std::this_thread::yield();
      used -= bytes;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) threads.emplace_back(use_some, t);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(used, 0u);
}

}  // namespace
}  // namespace tril::model
