// Bytes as a file with a path that is not on a disk.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace tril::fuzz {

/// All calls reuse the same file: earlier mappings of it must be gone.
inline std::string memory_file(std::string_view bytes) {
  static const int descriptor = ::memfd_create("fuzz", 0);
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  return "/proc/self/fd/" + std::to_string(descriptor);
}

}  // namespace tril::fuzz
