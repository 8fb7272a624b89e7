// Reading a machine from files that the test writes, and what is found wrong with machines and settings.
#include "doctor/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "doctor/hub_check.h"
#include "doctor/memory_limit.h"
#include "support/temporary.h"

namespace tril::doctor {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ids_of(const Findings& findings) {
  std::vector<std::string> ids;
  for (const Finding& f : findings) {
    EXPECT_FALSE(f.what.empty() || f.why.empty() || f.hint.empty()) << f.id;
    ids.push_back(f.id);
  }
  return ids;
}

bool has(const Findings& findings, const std::string& id) {
  const std::vector<std::string> ids = ids_of(findings);
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

struct FakeRoot {
  TemporaryDirectory dir;
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(dir.path(name)).parent_path());
    dir.write(name, text);
  }
};

TEST(Machine, IsReadFromFiles) {
  const FakeRoot root;
  root.put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Processor @ 2 GHz\n");
  root.put("proc/meminfo", "MemTotal:       8192 kB\nMemFree: 1 kB\nMemAvailable:   4096 kB\n");
  for (int cpu = 0; cpu < 4; ++cpu)
    root.put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
             cpu < 2 ? "0-1\n" : "2-3\n");
  root.put("sys/devices/system/node/node0/x", ""), root.put("sys/devices/system/node/node1/x", "");
  root.put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  root.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  root.put("sys/fs/cgroup/memory.max", "3145728\n"), root.put("sys/fs/cgroup/memory.current", "1572864\n");
  root.put("sys/fs/cgroup/memory.stat", "file 700000\ninactive_file 524288\nactive_file 175712\n");
  const Machine m = read_machine(root.dir.path());
  EXPECT_EQ(m.processor, "Some Processor @ 2 GHz");
  EXPECT_EQ(m.memory, 8192 * 1024);
  EXPECT_EQ(m.memory_limit, 3145728);
  EXPECT_EQ(m.available_memory, 2097152) << "less than the machine has: the control group limits it";
  EXPECT_EQ(m.physical_cores, 2);
  EXPECT_EQ(m.numa_nodes, 2);
  EXPECT_EQ(m.huge_pages, "never");
  EXPECT_EQ(m.governor, "powersave");
  EXPECT_FALSE(m.tables.empty());
}

TEST(Machine, IsOneOfArm64) {
  const FakeRoot root;
  EXPECT_EQ(read_machine(root.dir.path()).processor, "");
  root.put("proc/cpuinfo",
           "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
           "CPU part\t: 0xd0c\nCPU revision\t: 1\n");
  EXPECT_EQ(read_machine(root.dir.path()).processor, "ARM64, implementer 0x41, part 0xd0c");
}

// The group of the process, and each above it, of both versions.
TEST(MemoryLimit, TheTightestGroupCounts) {
  const FakeRoot root;
  const auto limit = [&] { return read_memory_limit(root.dir.path()); };
  EXPECT_EQ(limit().limit, std::nullopt);
  root.put("proc/self/cgroup", "9:cpuset:/other\n4:cpu,memory:/docker/0123\n0::/system.slice/tril.service\n");
  root.put("sys/fs/cgroup/system.slice/tril.service/memory.max", "max\n");
  EXPECT_EQ(limit().available, std::nullopt);
  root.put("sys/fs/cgroup/system.slice/memory.max", "9000\n");
  root.put("sys/fs/cgroup/system.slice/memory.current", "2500\n");
  root.put("sys/fs/cgroup/system.slice/memory.stat", "inactive_file_more 7\ninactive_file 500\n");
  EXPECT_EQ(limit().limit, 9000);
  EXPECT_EQ(limit().available, 7000);
  root.put("sys/fs/cgroup/system.slice/tril.service/memory.max", "3000\n");
  root.put("sys/fs/cgroup/system.slice/tril.service/memory.current", "4000\n");
  EXPECT_EQ(limit().limit, 3000);
  EXPECT_EQ(limit().available, 0);
}

TEST(MemoryLimit, OfTheFirstVersion) {
  const FakeRoot root;
  root.put("proc/self/cgroup", "4:cpu,memory:/docker/0123\n3:memory_other:/x\n");
  root.put("sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read_memory_limit(root.dir.path()).limit, std::nullopt);
  // In a container the host's path is not there.
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
  root.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "6000\n");
  root.put("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  EXPECT_EQ(read_memory_limit(root.dir.path()).available, 3000);
}

TEST(Machine, AFullContainerHasNoMemoryAvailable) {
  const FakeRoot root;
  root.put("proc/meminfo", "MemTotal: 8192 kB\nMemAvailable: 4096 kB\n");
  root.put("sys/fs/cgroup/memory.max", "1000\n"), root.put("sys/fs/cgroup/memory.current", "1000\n");
  const Machine m = read_machine(root.dir.path());
  EXPECT_EQ(m.available_memory, 0);
  EXPECT_TRUE(has(check_machine(m, 1, ""), "memory-low"));
}

TEST(Machine, FilesThatAreMissingOrOddAreNotKnown) {
  const FakeRoot root;
  root.put("proc/meminfo", "MemTotal: much\n");
  root.put("sys/fs/cgroup/memory.max", "max\n");
  root.put("sys/kernel/mm/transparent_hugepage/enabled", "]odd[\n");
  const Machine m = read_machine(root.dir.path());
  EXPECT_EQ(m.processor, "");
  EXPECT_EQ(m.memory, 0);
  EXPECT_EQ(m.available_memory, std::nullopt);
  EXPECT_FALSE(has(check_machine(m, 1, ""), "memory-low")) << "not known";
  EXPECT_EQ(m.memory_limit, std::nullopt);
  EXPECT_EQ(m.huge_pages, "");
  EXPECT_EQ(m.numa_nodes, 1);
}

Machine sound() {
  Machine m;
  m.tables = {"generic", "avx2"}, m.table = "avx2";
  m.logical_cores = m.usable_cores = 8, m.physical_cores = 4;
  m.memory = std::int64_t{16} << 30, m.available_memory = std::int64_t{8} << 30;
  m.huge_pages = "madvise", m.governor = "performance", m.open_files = 4096;
  return m;
}

TEST(Machine, EachFinding) {
  EXPECT_EQ(ids_of(check_machine(sound(), 4, "")), std::vector<std::string>{});
  EXPECT_TRUE(has(check_machine(sound(), 9, ""), "threads-many"));
  EXPECT_TRUE(has(check_machine(sound(), 6, ""), "threads-share-cores"));
  EXPECT_TRUE(has(check_machine(sound(), 4, "generic"), "kernels-forced"));
  EXPECT_FALSE(has(check_machine(sound(), 4, "avx2"), "kernels-forced"));
  const auto with = [](auto change) {
    Machine m = sound();
    change(m);
    return check_machine(m, 2, "");
  };
  EXPECT_TRUE(has(with([](Machine& m) { m.usable_cores = 2; }), "cores-limited"));
  EXPECT_TRUE(has(with([](Machine& m) { m.tables = {"generic"}; }), "kernels-generic"));
  EXPECT_TRUE(has(with([](Machine& m) { m.available_memory = 1 << 20; }), "memory-low"));
  EXPECT_TRUE(has(with([](Machine& m) { m.huge_pages = "never"; }), "huge-pages-off"));
  EXPECT_TRUE(has(with([](Machine& m) { m.governor = "powersave"; }), "governor-slow"));
  EXPECT_TRUE(has(with([](Machine& m) { m.open_files = 256; }), "open-files-few"));
  EXPECT_TRUE(has(with([](Machine& m) { m.numa_nodes = 2; }), "numa"));
  EXPECT_FALSE(is_anything_wrong(with([](Machine& m) { m.numa_nodes = 2; }))) << "a note";
  EXPECT_TRUE(is_anything_wrong(check_machine(sound(), 9, "")));
}

TEST(HubState, NamesTheTokensPlaceAndNotTheToken) {
  const TemporaryDirectory dir;
  std::map<std::string, std::string> variables{
      {"HOME", dir.path()}, {"HF_HUB_CACHE", dir.path("cache")}, {"HF_TOKEN", "hf_secret"}, {"HF_HUB_OFFLINE", "1"}};
  const auto variable = [&](const std::string& name) { return variables[name]; };
  const HubState state = check_hub(variable);
  EXPECT_EQ(state.cache, dir.path("cache"));
  EXPECT_TRUE(state.has_token && state.offline);
  EXPECT_EQ(state.token_origin, "HF_TOKEN");
  EXPECT_GE(state.free_bytes, 0);
  EXPECT_FALSE(has(state.findings, "hub-settings"));
  variables["HF_ENDPOINT"] = "https://name:password@mirror.example/hub";
  EXPECT_EQ(check_hub(variable).endpoint, "https://mirror.example/hub");
  variables["HF_ENDPOINT"] = "no url";
  EXPECT_TRUE(has(check_hub(variable).findings, "hub-settings"));
  variables["HF_ENDPOINT"] = "";
  variables["HF_HUB_CACHE"] = dir.write("file", "") + "/cache";  // below a file, so that not even root can create it
  EXPECT_TRUE(has(check_hub(variable).findings, "hub-cache-unwritable"));
}

}  // namespace
}  // namespace tril::doctor
