#include "base/placement.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/as_size.h"
#include "base/core_list.h"
#include "base/cores.h"
#include "base/team.h"

namespace tril::placement_test {
namespace {

using Cores = std::vector<int>;

TEST(CoreList, ReadsWhatTheSystemWrites) {
  EXPECT_EQ(read_core_list("0"), Cores{0});
  EXPECT_EQ(read_core_list("0-3,8"), (Cores{0, 1, 2, 3, 8}));
  EXPECT_EQ(read_core_list("8,0-1"), (Cores{8, 0, 1}));
  for (const char* bad : {"", ",", "1,", ",1", "3-1", "-1", "1-", "a", "1-b", "0,0", "0-2,1", "65536", "0-99999999999",
                          "1 2", "+1", "1--2"})
    EXPECT_EQ(read_core_list(bad), std::nullopt) << bad;
  EXPECT_EQ(core_list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(core_list_text({8, 0, 1}), "8,0-1");
  EXPECT_EQ(core_list_text({}), "");
}

// Two nodes of two cores of two hardware threads, numbered as Linux numbers them on servers: 0 and 4 share a core.
class Machine {
 public:
  explicit Machine(bool has_nodes) {
    for (int p = 0; p < 8; ++p) {
      const std::string topology = "/cpu/cpu" + std::to_string(p) + "/topology/";
      write(topology + "thread_siblings_list", std::to_string(p % 4) + "," + std::to_string(p % 4 + 4));
      write(topology + "physical_package_id", std::to_string(p % 4 / 2));
    }
    if (!has_nodes) return;
    write("/node/node0/cpulist", "0-1,4-5");
    write("/node/node1/cpulist", "2-3,6-7");
    write("/node/possible", "0-1");
  }
  ~Machine() { std::filesystem::remove_all(root); }
  const std::string root = (std::filesystem::temp_directory_path() / "tril_placement_test").string() +
                           std::to_string(reinterpret_cast<std::uintptr_t>(this));

 private:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root + "/sys/devices/system" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
};

TEST(Placement, OrdersProcessorsByNodeAndCore) {
  for (const bool has_nodes : {true, false}) {
    const Machine machine(has_nodes);
    const auto all = read_processors({0, 1, 2, 3, 4, 5, 6, 7}, machine.root);
    EXPECT_EQ(all[6], (Processor{.number = 6, .node = 1, .sibling = 1}));
    EXPECT_EQ(compact_order(all), (Cores{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(spread_order(all), (Cores{0, 2, 1, 3, 4, 6, 5, 7}));
    const auto some = read_processors({1, 2, 3, 5, 6}, machine.root);
    EXPECT_EQ(compact_order(some), (Cores{1, 2, 3, 5, 6}));
    EXPECT_EQ(spread_order(some), (Cores{1, 2, 3, 5, 6}));
    const auto without_first = read_processors({1, 4, 5}, machine.root);  // 4 has its core to itself: 0 is not allowed
    EXPECT_EQ(compact_order(without_first), (Cores{1, 4, 5}));
    EXPECT_EQ(without_first[1], (Processor{.number = 4, .node = 0, .sibling = 0}));
    const auto last = read_processors({1, 5, 6}, machine.root);  // 5 shares a core with 1, 6 shares none
    EXPECT_EQ(compact_order(last), (Cores{1, 6, 5}));
    EXPECT_EQ(spread_order(last), (Cores{1, 6, 5}));
  }
}

// What a thread of a team or of a pool is bound to, as the system says.
TEST(Placement, BindsEachMemberOfATeamToItsCore) {
  const Cores allowed = processors_of_thread();
  ASSERT_FALSE(allowed.empty());
  const int size = std::min(4, static_cast<int>(allowed.size()));
  for (const std::string& pin : {std::string("compact"), std::string("spread"), core_list_text(allowed)}) {
    const int threads = std::min(size, thread_count(0, {.pin = pin}));
    const Placement placement = placement_of({.pin = pin}, threads);
    ASSERT_EQ(std::ssize(placement.cores), threads);
    std::vector<Cores> bound(as_size(threads));
    {
      Team team(threads, placement);
      const PinnedThread caller(placement, 0);
      team.run([&](int member) { bound[as_size(member)] = processors_of_thread(); });
    }
    for (int member = 0; member < threads; ++member)
      EXPECT_EQ(bound[as_size(member)], Cores{placement.cores[as_size(member)]}) << pin;
    EXPECT_EQ(processors_of_thread(), allowed) << "the caller is free again";
  }
}

TEST(Placement, BindsNothingUnlessAsked) {
  const Cores allowed = processors_of_thread();
  const Placement placement = placement_of({}, 2);
  EXPECT_TRUE(placement.cores.empty());
  Team team(2, placement);
  std::vector<Cores> bound(2);
  team.run([&](int member) { bound[as_size(member)] = processors_of_thread(); });
  EXPECT_EQ(bound[0], allowed);
  EXPECT_EQ(bound[1], allowed);
}

TEST(Placement, ThreadsOfAListAreItsCores) {
  EXPECT_EQ(thread_count(0, {.pin = "4,5,9"}), 3);
  EXPECT_EQ(thread_count(2, {.pin = "4,5,9"}), 2);
  EXPECT_EQ(thread_count(0, {.pin = "compact"}), available_cores());
  EXPECT_EQ(thread_count(0, {}), available_cores());
}

void expect_refused(const PlacementOptions& o, int threads, const std::vector<std::string>& parts) {
  try {
    placement_of(o, threads);
    ADD_FAILURE() << o.pin << " is taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    for (const std::string& part : parts) EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Placement, RefusesCoresThatAreMissing) {
  const Cores allowed = processors_of_thread();
  const std::string own = core_list_text(allowed);
  expect_refused({.pin = std::to_string(allowed[0]) + ",4001,4000"}, 1, {"pin", "4000-4001", "allowed: " + own});
  expect_refused({.pin = "4000"}, 1, {"core 4000", "allowed: " + own});
  expect_refused({.pin = "close"}, 1, {"none, compact, spread", "close", "0-3,8"});
  expect_refused({.pin = "0,0"}, 1, {"each once"});
  expect_refused({.pin = "compact"}, static_cast<int>(allowed.size()) + 1,
                 {std::to_string(allowed.size() + 1) + " threads", own});
  expect_refused({.pin = "compact", .before = static_cast<int>(allowed.size())}, 1, {"other processes"});
  if (allowed.size() < 2) return;
  const PinnedThread bound({.cores = {allowed[0]}}, 0);  // as taskset would
  expect_refused({.pin = own}, 1, {"allowed: " + std::to_string(allowed[0])});
}

TEST(Placement, SetsThePolicyOfMemory) {
  const auto before = memory_policy();
  if (!before) GTEST_SKIP() << "this system has no policies for memory";
  const auto within = [](Numa numa, MemoryOf users) {
    const MemoryPlaced placed(numa, users);
    return memory_policy();
  };
  EXPECT_EQ(within(Numa::none, MemoryOf::all_threads), before);
  EXPECT_EQ(within(Numa::interleave, MemoryOf::all_threads)->mode, interleaved_memory().mode);
  EXPECT_EQ(within(Numa::interleave, MemoryOf::all_threads)->nodes, interleaved_memory().nodes);
  EXPECT_EQ(within(Numa::interleave, MemoryOf::one_thread)->mode, local_memory().mode);
  EXPECT_EQ(within(Numa::local, MemoryOf::all_threads)->mode, local_memory().mode);
  EXPECT_EQ(memory_policy(), before) << "it is restored";
  EXPECT_NE(interleaved_memory().mode, local_memory().mode);

  Placement placement{.cores = {}, .numa = Numa::interleave};
  Team team(2, placement);
  int mode = -1;
  team.run([&](int member) {
    if (member == 1) mode = memory_policy()->mode;
  });
  EXPECT_EQ(mode, interleaved_memory().mode);
}

// On a machine with one node, a warning says that nothing changes.
TEST(Placement, SaysThatOneNodeChangesNothing) {
  if (!memory_policy()) GTEST_SKIP() << "this system has no policies for memory";
  testing::internal::CaptureStderr();
  EXPECT_EQ(placement_of({.numa = Numa::interleave}, 1).numa, Numa::interleave);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("one node") != std::string::npos, memory_nodes() == 1) << told;
  testing::internal::CaptureStderr();
  placement_of({}, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tril::placement_test
