// Arena: blocks do not overlap and are merged when freed; its limit can be hit without harm.
#include "tensor/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/little_memory.h"
#include "support/process.h"

namespace tril {
namespace {

struct Held {
  StorageRef storage;
  unsigned char pattern;
};

Held hold(Arena& arena, std::size_t bytes, std::uint64_t number) {
  Held h{StorageRef(arena.allocate(bytes)), static_cast<unsigned char>(number * 37 + 1)};
  std::memset(h.storage->data, h.pattern, bytes);
  return h;
}

bool intact(const Held& h) {
  for (std::size_t i = 0; i < h.storage->bytes; ++i)
    if (static_cast<unsigned char>(h.storage->data[i]) != h.pattern) return false;
  return true;
}

// Allocates and frees at random; every block keeps its contents.
void churn(Arena& arena, std::uint64_t seed, int steps) {
  RandomSequence random(seed, 0);
  std::vector<Held> held;
  for (int i = 0; i < steps; ++i) {
    if (held.size() < 40 && random.below(5) < 3) {
      const std::size_t bytes = random.below(10) == 0 ? random.below(200000) : random.below(700);
      held.push_back(hold(arena, bytes, random.bits()));
      ASSERT_EQ(held.back().storage->bytes, bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(held.back().storage->data) % 64, 0u);
    } else if (!held.empty()) {
      const std::size_t at = random.below(held.size());
      ASSERT_TRUE(intact(held[at])) << "somebody wrote into a block that is in use";
      held[at] = std::move(held.back());
      held.pop_back();
    }
  }
  for (const Held& h : held) ASSERT_TRUE(intact(h));
}

TEST(Arena, BlocksKeepWhatIsWrittenAndGrowTogether) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Arena arena(std::size_t{64} << 20);
    churn(arena, seed, 2000);
    const Arena::Stats s = arena.stats();
    EXPECT_EQ(s.live_blocks, 0u);
    EXPECT_EQ(s.live_bytes, 0u);
    // If all freed memory is one block again, a block of that size fits without growth.
    const StorageRef all(arena.allocate(s.high_water - 1024));
    EXPECT_EQ(arena.stats().growths, s.growths) << "free neighbours did not grow together";
    EXPECT_EQ(arena.stats().high_water, s.high_water);
  }
}

TEST(Arena, TheSameSizesAgainCostNothing) {
  Arena arena;
  std::uint64_t growths = 0;
  for (int step = 0; step < 10; ++step) {
    churn(arena, 7, 500);
    if (step > 0) {
      EXPECT_EQ(arena.stats().growths, growths);
    }
    growths = arena.stats().growths;
  }
}

TEST(Arena, TheLimitIsAnErrorThatCanBeSurvived) {
  Arena arena(1 << 20);
  std::vector<Held> held;
  std::optional<Error> error;
  while (!error) {
    try {
      held.push_back(hold(arena, 50000, held.size()));
    } catch (const Error& e) {
      error = e;
    }
    ASSERT_LT(held.size(), 30u);
  }
  EXPECT_EQ(error->where(), "arena");
  EXPECT_NE(std::string(error->what()).find("more bytes are needed"), std::string::npos) << error->what();
  EXPECT_GT(held.size(), 15u);
  EXPECT_EQ(arena.stats().live_blocks, held.size());
  for (const Held& h : held) EXPECT_TRUE(intact(h));
  held.pop_back();
  EXPECT_TRUE(intact(hold(arena, 50000, 1)));
  EXPECT_THROW(arena.allocate(~std::size_t{0} - 100), Error);
  EXPECT_THROW(arena.allocate(~std::size_t{0} - 400), Error);
  EXPECT_THROW(arena.allocate(~std::size_t{0} / 2), Error);
  held.clear();
  EXPECT_TRUE(intact(hold(arena, 900000, 1))) << "all of it is to be had again";
  EXPECT_EQ(arena.stats().live_blocks, 0u);
}

TEST(Arena, AFreeBlockAtTheTopIsExtended) {
  Arena arena(1 << 20);
  const Held first = hold(arena, 1000, 1);
  { const Held second = hold(arena, 400000, 2); }
  const Held longer = hold(arena, 900000, 3);  // fits only at and after the place of the second one
  EXPECT_TRUE(intact(first));
  EXPECT_TRUE(intact(longer));
}

TEST(Arena, BlocksOfNoBytesAreBlocks) {
  Arena arena;
  const StorageRef a(arena.allocate(0)), b(arena.allocate(0));
  EXPECT_NE(a->data, b->data);
  EXPECT_NE(a->id, b->id);
}

TEST(Arena, PeakIsTheMostThatWasEverLive) {
  Arena arena;
  { const Held big = hold(arena, 1 << 20, 1); }
  const std::size_t peak = arena.stats().peak_bytes;
  EXPECT_GE(peak, std::size_t{1} << 20);
  { const Held small = hold(arena, 1 << 10, 1); }
  EXPECT_EQ(arena.stats().peak_bytes, peak);
  arena.reset_peak();
  EXPECT_EQ(arena.stats().peak_bytes, 0u);
}

TEST(Arena, StoragesOutliveIt) {
  std::vector<Held> held;
  {
    Arena arena;
    for (std::size_t i = 0; i < 10; ++i) held.push_back(hold(arena, 1000 * i, i));
  }
  for (const Held& h : held) EXPECT_TRUE(intact(h));
  while (held.size() > 1) held.erase(held.begin() + 1);
  EXPECT_TRUE(intact(held[0]));
}

TEST(Arena, ThreadsShareIt) {
  std::vector<Held> crossing;
  {
    Arena arena;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 3; ++t) threads.emplace_back([&arena, t] { churn(arena, t, 3000); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(arena.stats().live_blocks, 0u);
    for (std::size_t i = 0; i < 100; ++i) crossing.push_back(hold(arena, 100 + i, i));
  }
  // Other threads free what one thread allocated, after the arena is gone.
  std::vector<Held> other;
  for (std::size_t i = 0; i < 50; ++i) other.push_back(std::move(crossing.back())), crossing.pop_back();
  std::thread a([&] { crossing.clear(); }), b([&] { other.clear(); });
  a.join(), b.join();
}

std::string refusal(std::size_t limit) {
  try {
    const Arena arena(limit);
  } catch (const Error& problem) {
    return problem.what();
  }
  return "";
}

TEST(Arena, NamesTheRangeThatCannotBeHad) {
  const std::string text = refusal(std::size_t{1} << 60);
  EXPECT_NE(text.find("cannot reserve an address range of 1152921504606846976 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("`threads`"), std::string::npos) << text;
}

// Under an address-space limit (ulimit -v) an arena takes what is available, but not all of it, and reports when there is none.
TEST(Arena, AddressSpaceThatIsLimited) {
  if (test::sanitized) GTEST_SKIP() << "a sanitizer needs the addresses itself";
  if (!test::address_limits_hold()) GTEST_SKIP() << "the system ignores limits on addresses";
  constexpr std::size_t mib = std::size_t{1} << 20;
  const pid_t child = fork();
  if (child == 0) {
    rlimit limit{2048 * mib, 2048 * mib};
    setrlimit(RLIMIT_AS, &limit);
    int failures = 0;
    {
      Arena first, second;
      hold(first, 100 * mib, 1), hold(second, 50 * mib, 2);
      const std::vector<char> rest(200 * mib);  // memory outside of arenas
      failures += rest[mib] == 0 ? 0 : 1;
    }
    limit.rlim_cur = mib;
    setrlimit(RLIMIT_AS, &limit);
    const std::string text = refusal(0);
    failures +=
        text.find("cannot reserve an address range") == text.npos || text.find("of 0 bytes") != text.npos ? 2 : 0;
    _exit(failures);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tril
