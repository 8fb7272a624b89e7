// How many cores this process may use: fewer than the machine has where it is bound to some, or a container has a share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tril {

/// Of what a control group's cpu.max says ("200000 100000": so many microseconds of every so many; "max 100000"), the cores
/// that are used up by it, at least one; nothing where it is no limit or not understood.
std::optional<int> cores_of_quota(std::string_view cpu_max);

/// By the process's affinity (taskset, mpirun, --cpuset-cpus) and the control group that it sees as its root (--cpus).
int available_cores();

/// Threads to use: as many as wanted, or for 0 one for every core that this process may use.
int thread_count(std::int64_t wanted);

}  // namespace tril
