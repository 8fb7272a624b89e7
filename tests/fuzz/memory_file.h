// Bytes as a file that has a path and is on no disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace tril::fuzz {

/// The same file for all calls: what was mapped of it before must be gone.
inline std::string memory_file(std::string_view bytes) {
  static const int descriptor = ::memfd_create("fuzz", 0);
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace tril::fuzz
