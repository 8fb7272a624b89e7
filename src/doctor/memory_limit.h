// How much memory the control groups of this process leave to it: those of containers and of services.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tril::doctor {

struct MemoryLimit {
  std::optional<std::int64_t> limit;      ///< bytes, the least of all groups; nothing: no group has a limit
  std::optional<std::int64_t> available;  ///< bytes that are left, at least 0
};

/// Reads /proc/self/cgroup and /sys/fs/cgroup below `root`: of both versions of control groups, the group of the process and
/// all groups above it.
MemoryLimit read_memory_limit(const std::string& root = "");

}  // namespace tril::doctor
