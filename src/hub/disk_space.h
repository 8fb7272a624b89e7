// Checks the free disk space before a download.
#pragma once

#include <cstdint>
#include <string>

namespace tril::hub {

/// @throws Error if the file system of the directory has fewer free bytes
void check_disk_space(const std::string& directory, std::uint64_t bytes);

/// "312 MB", "4.1 GB": units of 1000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace tril::hub
