// A test's view of its own process.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace tril::test {

// Whether the address or thread sanitizer is active: it takes the address space for itself and keeps freed memory, so
// that no limit on memory holds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC's way to say it
inline constexpr bool sanitized = true;
#elif defined(__has_feature)  // clang's
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

// Memory of the process that is in use now.
inline std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace tril::test
