#include "base/processors.h"

#ifdef __linux__
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <tuple>

#include "base/as_size.h"
#include "base/core_list.h"

namespace tril {
namespace {

std::string line_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The node of each processor, from /sys/devices/system/node/node0/cpulist.
std::map<int, int> nodes_under(const std::filesystem::path& directory) {
  std::map<int, int> nodes;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(directory, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node") || name.size() == 4 || name.find_first_not_of("0123456789", 4) != name.npos) continue;
    if (const auto list = read_core_list(line_of_file(entry.path() / "cpulist")))
      for (const int number : *list) nodes[number] = std::atoi(name.c_str() + 4);
  }
  return nodes;
}

std::vector<int> numbers_of(const std::vector<Processor>& processors) {
  std::vector<int> numbers;
  for (const Processor& p : processors) numbers.push_back(p.number);
  return numbers;
}

}  // namespace

std::vector<Processor> read_processors(const std::vector<int>& numbers, const std::string& root) {
  const std::filesystem::path system = root + "/sys/devices/system";
  const std::map<int, int> nodes = nodes_under(system / "node");
  std::vector<Processor> all;
  for (const int number : numbers) {
    const std::filesystem::path topology = system / "cpu" / ("cpu" + std::to_string(number)) / "topology";
    Processor p{.number = number};
    if (const auto node = nodes.find(number); node != nodes.end())
      p.node = node->second;
    else
      p.node = std::max(0, std::atoi(line_of_file(topology / "physical_package_id").c_str()));
    if (const auto siblings = read_core_list(line_of_file(topology / "thread_siblings_list")))
      // Of those of its core that are given: if a core's first hardware thread is not, its second is as good as any first.
      p.sibling = static_cast<int>(std::count_if(siblings->begin(), siblings->end(), [&](int s) {
        return s < number && std::find(numbers.begin(), numbers.end(), s) != numbers.end();
      }));
    all.push_back(p);
  }
  return all;
}

std::vector<int> compact_order(std::vector<Processor> processors) {
  std::sort(processors.begin(), processors.end(), [](const Processor& a, const Processor& b) {
    return std::tie(a.sibling, a.node, a.number) < std::tie(b.sibling, b.node, b.number);
  });
  return numbers_of(processors);
}

std::vector<int> spread_order(std::vector<Processor> processors) {
  std::sort(processors.begin(), processors.end(),
            [](const Processor& a, const Processor& b) { return a.number < b.number; });
  std::map<std::pair<int, int>, int> before;  // by sibling and node: how many came
  std::vector<std::tuple<int, int, int, int>> keys;
  for (const Processor& p : processors) keys.emplace_back(p.sibling, before[{p.sibling, p.node}]++, p.node, p.number);
  std::sort(keys.begin(), keys.end());
  std::vector<int> numbers;
  for (const auto& key : keys) numbers.push_back(std::get<3>(key));
  return numbers;
}

#ifdef __linux__
namespace {

// Machines have more processors than a cpu_set_t holds.
struct ProcessorSet {
  std::array<cpu_set_t, 8> sets{};
  static constexpr std::size_t bytes = sizeof(sets);
  static constexpr int most = static_cast<int>(8 * bytes);
};

ProcessorSet set_of(const std::vector<int>& processors) {
  ProcessorSet set;
  for (const int p : processors)
    if (p >= 0 && p < ProcessorSet::most) CPU_SET_S(as_size(p), ProcessorSet::bytes, set.sets.data());
  return set;
}

std::string text_of_error(int error) {
  return error == 0 ? "" : std::generic_category().message(error);
}

constexpr unsigned long node_bits = 8 * sizeof(MemoryPolicy::nodes);

MemoryPolicy allowed_nodes() {
  MemoryPolicy policy;
  if (syscall(SYS_get_mempolicy, nullptr, policy.nodes.data(), node_bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
    policy.nodes = {1};
  return policy;
}

}  // namespace

std::vector<int> processors_of_thread() {
  ProcessorSet set;
  std::vector<int> numbers;
  if (sched_getaffinity(0, ProcessorSet::bytes, set.sets.data()) != 0) return numbers;
  for (int p = 0; p < ProcessorSet::most; ++p)
    if (CPU_ISSET_S(as_size(p), ProcessorSet::bytes, set.sets.data())) numbers.push_back(p);
  return numbers;
}

std::string bind_this_thread(const std::vector<int>& processors) {
  const ProcessorSet set = set_of(processors);
  return sched_setaffinity(0, ProcessorSet::bytes, set.sets.data()) == 0 ? "" : text_of_error(errno);
}

std::string bind_thread(std::thread& thread, const std::vector<int>& processors) {
  const ProcessorSet set = set_of(processors);
  return text_of_error(pthread_setaffinity_np(thread.native_handle(), ProcessorSet::bytes, set.sets.data()));
}

std::optional<MemoryPolicy> memory_policy() {
  MemoryPolicy policy;
  if (syscall(SYS_get_mempolicy, &policy.mode, policy.nodes.data(), node_bits, nullptr, 0) != 0) return std::nullopt;
  return policy;
}

std::string set_memory_policy(const MemoryPolicy& policy) {
  const bool has_nodes = std::any_of(policy.nodes.begin(), policy.nodes.end(), [](unsigned long n) { return n != 0; });
  const long set =
      syscall(SYS_set_mempolicy, policy.mode, has_nodes ? policy.nodes.data() : nullptr, has_nodes ? node_bits : 0);
  return set == 0 ? "" : text_of_error(errno);
}

MemoryPolicy interleaved_memory() {
  MemoryPolicy policy = allowed_nodes();
  policy.mode = MPOL_INTERLEAVE;
  return policy;
}

MemoryPolicy local_memory() {
  return {.mode = MPOL_LOCAL};
}

int memory_nodes() {
  int nodes = 0;
  for (const unsigned long bits : allowed_nodes().nodes) nodes += std::popcount(bits);
  return std::max(1, nodes);
}

#else  // POSIX has no call for any of this.
namespace {

constexpr const char* cannot = "this system has no call for it";

}  // namespace

std::vector<int> processors_of_thread() {
  return {};
}
std::string bind_this_thread(const std::vector<int>&) {
  return cannot;
}
std::string bind_thread(std::thread&, const std::vector<int>&) {
  return cannot;
}
std::optional<MemoryPolicy> memory_policy() {
  return std::nullopt;
}
std::string set_memory_policy(const MemoryPolicy&) {
  return cannot;
}
MemoryPolicy interleaved_memory() {
  return {};
}
MemoryPolicy local_memory() {
  return {};
}
int memory_nodes() {
  return 1;
}
#endif

}  // namespace tril
