#include "doctor/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>

#include "base/cores.h"
#include "doctor/memory_limit.h"
#include "kern/kernels.h"

namespace tril::doctor {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end != text.data() ? std::optional(n) : std::nullopt;
}

// "model name      : Intel..." -> the text after the colon; "" if no line begins with `name`.
std::string value_in(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// Linux on ARM64 gives numbers in place of a name: "ARM64, implementer 0x41, part 0xd0c". "" if there are none either.
std::string processor_in(const std::string& path) {
  std::string name = value_in(path, "model name");
  const std::string part = value_in(path, "CPU part");
  if (!name.empty() || part.empty()) return name;
  return fmt::format("ARM64, implementer {}, part {}", value_in(path, "CPU implementer"), part);
}

// "MemAvailable:   123 kB" in bytes.
std::optional<std::int64_t> kilobytes_in(const std::string& path, std::string_view name) {
  const auto kilobytes = number_in(value_in(path, name));
  return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

// Each core is listed by the threads that share it.
int physical_cores_in(const std::string& directory, int otherwise) {
  std::set<std::string> cores;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(directory, unreadable)) {
    const std::string siblings = first_line((entry.path() / "topology/thread_siblings_list").string());
    if (!siblings.empty()) cores.insert(siblings);
  }
  return cores.empty() ? otherwise : static_cast<int>(cores.size());
}

int nodes_in(const std::string& directory) {
  int nodes = 0;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(directory, unreadable)) {
    const std::string name = entry.path().filename().string();
    nodes += name.starts_with("node") && name.size() > 4 && name[4] >= '0' && name[4] <= '9' ? 1 : 0;
  }
  return std::max(1, nodes);
}

// "always [madvise] never" -> "madvise"
std::string chosen_in(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? ""
             : line.substr(open + 1, close - open - 1);
}

}  // namespace

Machine read_machine(const std::string& root) {
  Machine m;
  m.processor = processor_in(root + "/proc/cpuinfo");
  for (const kern::Kernels* k : kern::tables()) m.tables.emplace_back(k->name);
  m.table = kern::best().name;
  m.logical_cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  m.physical_cores = physical_cores_in(root + "/sys/devices/system/cpu", m.logical_cores);
  m.usable_cores = available_cores();
  m.numa_nodes = nodes_in(root + "/sys/devices/system/node");
  m.memory = kilobytes_in(root + "/proc/meminfo", "MemTotal").value_or(0);
  m.available_memory = kilobytes_in(root + "/proc/meminfo", "MemAvailable");
  const MemoryLimit group = read_memory_limit(root);
  m.memory_limit = group.limit;
  if (group.available) m.available_memory = std::min(m.available_memory.value_or(*group.available), *group.available);
  m.huge_pages = chosen_in(first_line(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  m.governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    m.open_files = static_cast<std::int64_t>(limit.rlim_cur);
  return m;
}

Findings check_machine(const Machine& m, int threads, const std::string& forced_table) {
  Findings all;
  const auto add = [&](const char* id, Severity severity, std::string what, std::string why, std::string hint) {
    all.push_back({id, severity, std::move(what), std::move(why), std::move(hint)});
  };
  if (threads > m.usable_cores)
    add("threads-many", Severity::warning, fmt::format("{} threads on {} usable cores", threads, m.usable_cores),
        "threads of one step wait for each other, so each waits until the others have had a core",
        fmt::format("set `threads` to {}, or to 0", m.usable_cores));
  else if (threads > m.physical_cores)
    add("threads-share-cores", Severity::note,
        fmt::format("{} threads on {} cores with hyperthreads", threads, m.physical_cores),
        "two threads of a core share its units for products",
        fmt::format("compare with `threads` {}", m.physical_cores));
  if (m.usable_cores < m.logical_cores)
    add("cores-limited", Severity::note, fmt::format("{} of {} cores may be used", m.usable_cores, m.logical_cores),
        "the process is bound to some cores, or a control group limits it", "see `taskset -p $$` and cpu.max");
  if (m.tables.back() == "generic")
    add("kernels-generic", Severity::warning, "the processor has only the generic kernels",
        "products take several times as long", "on x86, use a machine with AVX2 or AVX-512");
  if (!forced_table.empty() && forced_table != m.tables.back())
    add("kernels-forced", Severity::warning,
        fmt::format("TRIL_INSTRUCTION_SET chooses {}, but the processor has {}", forced_table, m.tables.back()),
        "the chosen kernels are slower", "unset TRIL_INSTRUCTION_SET");
  if (m.available_memory && *m.available_memory < std::int64_t{512} << 20)
    add("memory-low", Severity::warning, fmt::format("{} MiB of memory are available", *m.available_memory >> 20),
        "a model may not fit, and the system may end the process",
        "end other programs, or raise the limit of the container");
  if (m.huge_pages == "never")
    add("huge-pages-off", Severity::note, "transparent huge pages are off",
        "reading large weights takes a few percent longer",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  if (m.governor == "powersave" || m.governor == "conservative")
    add("governor-slow", Severity::note, fmt::format("the frequency governor is {}", m.governor),
        "with some drivers the processor stays at a low frequency", "cpupower frequency-set -g performance");
  if (m.open_files > 0 && m.open_files < 1024)
    add("open-files-few", Severity::warning, fmt::format("at most {} files may be open", m.open_files),
        "a server needs one for each connection, and a sharded model one for each file", "ulimit -n 4096");
  if (m.numa_nodes > 1)
    add("numa", Severity::note, fmt::format("{} NUMA nodes", m.numa_nodes),
        "a thread reads the memory of another node more slowly",
        "run one process for each node, bound to it by numactl");
  return all;
}

}  // namespace tril::doctor
