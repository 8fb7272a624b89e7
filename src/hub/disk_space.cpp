#include "hub/disk_space.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/printable.h"

namespace tril::hub {

void check_disk_space(const std::string& directory, std::uint64_t bytes) {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(directory, unknown);
  if (unknown || space.available >= bytes) return;
  fail(printable(directory, 400),
       fmt::format("has room for {}, but {} are to be downloaded", bytes_text(space.available), bytes_text(bytes)),
       "free some space, or set HF_HUB_CACHE to another directory");
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < units.size(); ++unit) amount /= 1000;
  return amount < 9.95 ? fmt::format("{:.1f} {}", amount, units[unit]) : fmt::format("{:.0f} {}", amount, units[unit]);
}

}  // namespace tril::hub
