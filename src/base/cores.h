// The number of cores that this process may use: fewer than the machine has if it is bound to some or a container
// limits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tril {

/// The number of cores that a control group's cpu.max allows, at least one. "200000 100000" means 200,000
/// microseconds of processor time every 100,000 microseconds. Returns nothing if the text is no limit ("max
/// 100000") or is not understood.
std::optional<int> cores_of_quota(std::string_view cpu_max);

/// From the process's affinity (taskset, mpirun, --cpuset-cpus) and the control group that it sees as its root
/// (--cpus).
int available_cores();

/// The number of threads to use: `wanted`, or for 0 one per core that this process may use.
int thread_count(std::int64_t wanted);

}  // namespace tril
