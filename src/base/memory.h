// The process's use of the machine's memory.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/sysinfo.h>
#endif
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tril {

/// The peak resident memory of this process, in MiB.
inline double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);  // in bytes
#else
  return static_cast<double>(usage.ru_maxrss) / 1024;  // in KiB
#endif
}

/// Releases the whole pages within these mapped bytes. Pages of a file are read again when they are next used;
/// others become zero. Returns the released bytes; none if the system refused, or does not promise zeros.
inline std::span<std::byte> release_pages([[maybe_unused]] std::span<const std::byte> mapped) {
#ifdef __linux__
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(mapped.data()) + page - 1) / page * page,
             end = (reinterpret_cast<std::uintptr_t>(mapped.data()) + mapped.size()) / page * page;
  if (begin >= end || madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0) return {};
  return {reinterpret_cast<std::byte*>(begin), end - begin};
#else
  return {};
#endif
}

/// Advises the system to use huge pages for mapped memory: there are fewer page faults. No advice outside Linux.
inline void prefer_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(p, bytes, MADV_HUGEPAGE);
#endif
}
/// The opposite.
inline void prefer_small_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_NOHUGEPAGE
  madvise(p, bytes, MADV_NOHUGEPAGE);
#endif
}

/// The machine's memory in bytes; on Linux, including swap.
inline std::uint64_t machine_bytes() {
#ifdef __linux__
  struct sysinfo info {};
  sysinfo(&info);
  return (std::uint64_t{info.totalram} + info.totalswap) * info.mem_unit;
#else
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
#endif
}

}  // namespace tril
