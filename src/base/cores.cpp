#include "base/cores.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace tril {

std::optional<int> cores_of_quota(std::string_view cpu_max) {
  std::istringstream words{std::string(cpu_max)};
  double quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

int available_cores() {
  int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#ifdef __linux__
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof(own), &own) == 0) cores = std::clamp(CPU_COUNT(&own), 1, cores);
#endif
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string line;
  if (std::getline(file, line))
    if (const auto quota = cores_of_quota(line)) cores = std::min(cores, *quota);
  return cores;
}

int thread_count(std::int64_t wanted) {
  return wanted > 0 ? static_cast<int>(wanted) : available_cores();
}

}  // namespace tril
