// The process's use of the machine's memory.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tril {

/// The peak resident memory of this process, in MiB.
inline double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux reports KiB
}

/// Releases the whole pages within these mapped bytes. Pages of a file are read again when they are next used;
/// others become zero. Returns the released bytes; none if the system refused.
inline std::span<std::byte> release_pages(std::span<const std::byte> mapped) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(mapped.data()) + page - 1) / page * page,
             end = (reinterpret_cast<std::uintptr_t>(mapped.data()) + mapped.size()) / page * page;
  if (begin >= end || madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return {};
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace tril
