// What a process has used of the machine's memory.
#pragma once

#include <sys/resource.h>

namespace tril {

/// The most memory that this process has held at once, in MiB.
inline double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace tril
