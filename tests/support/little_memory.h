// Tests of a process that runs out of memory after a few threads' stacks: run as a death test, in a process of its own.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>

#include "base/error.h"

namespace tril::test {

inline std::int64_t address_space() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// False under QEMU's emulation of one process, which accepts a limit on addresses and then has none.
inline bool address_limits_hold() {
  rlimit before{}, after{};
  getrlimit(RLIMIT_AS, &before);
  rlimit lower = before;
  lower.rlim_cur = (before.rlim_cur == RLIM_INFINITY ? rlim_t{1} << 50 : before.rlim_cur) - 4096;
  setrlimit(RLIMIT_AS, &lower);
  getrlimit(RLIMIT_AS, &after);
  setrlimit(RLIMIT_AS, &before);
  return after.rlim_cur == lower.rlim_cur;
}

/// False under a sanitizer, which reserves terabytes of addresses, and where limits do not hold.
inline bool can_limit_memory() {
  return address_space() <= std::int64_t{1} << 40 && address_limits_hold();
}

/// Limits memory to `mebibytes` more than in use, runs `work`, and ends the process: with code 7 and the message after
/// an Error, else with 0.
[[noreturn]] inline void end_with_little_memory(const std::function<void()>& work, std::int64_t mebibytes = 200) {
  const auto most = static_cast<rlim_t>(address_space() + (mebibytes << 20));
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  try {
    work();
  } catch (const Error& e) {
    std::fputs(e.what(), stderr);
    _exit(7);
  }
  _exit(0);
}

}  // namespace tril::test
