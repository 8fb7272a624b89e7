#include "doctor/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace tril::doctor {
namespace {

// The files of one version.
struct GroupFiles {
  std::string folder;
  const char *limit, *used, *inactive;
};

std::optional<std::int64_t> count_in(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end != text.data() && n >= 0 ? std::optional(n) : std::nullopt;
}

std::optional<std::int64_t> count_of_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return count_in(line);  // "max": no limit
}

// The number in the line "inactive_file 123" of a file; 0 if there is none.
std::int64_t count_after(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ')
      return count_in(std::string_view(line).substr(name.size() + 1)).value_or(0);
  return 0;
}

void add_group(MemoryLimit& m, const std::string& group, const GroupFiles& files) {
  constexpr std::int64_t no_limit = std::int64_t{1} << 62;  // version 1 writes the largest number of whole pages
  const auto limit = count_of_file(group + "/" + files.limit);
  if (!limit || *limit >= no_limit) return;
  // The used memory includes cached pages of files, which the system takes back when a process needs them.
  const std::int64_t used =
      count_of_file(group + "/" + files.used).value_or(0) - count_after(files.inactive, group + "/memory.stat");
  const std::int64_t available = std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, used));
  m.limit = std::min(m.limit.value_or(*limit), *limit);
  m.available = std::min(m.available.value_or(available), available);
}

// In a container, the path may be one of the host, which is not there: the container sees its own group at the top.
void add_groups(MemoryLimit& m, std::string path, const GroupFiles& files) {
  for (;; path.erase(path.rfind('/'))) {
    while (path.ends_with('/')) path.pop_back();
    add_group(m, files.folder + path, files);
    if (path.empty()) return;
  }
}

bool has_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "memory") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

MemoryLimit read_memory_limit(const std::string& root) {
  const GroupFiles second{root + "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  const GroupFiles first{root + "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                         "total_inactive_file"};
  std::string first_path, second_path;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/system.slice", "9:cpu,memory:/docker/0123"
    const std::size_t colon = line.find(':'), next = line.find(':', colon + 1);
    if (colon == std::string::npos || next == std::string::npos || line.find('/', next) != next + 1) continue;
    const std::string_view controllers = std::string_view(line).substr(colon + 1, next - colon - 1);
    if (controllers.empty()) second_path = line.substr(next + 1);
    if (has_memory(controllers)) first_path = line.substr(next + 1);
  }
  MemoryLimit m;
  add_groups(m, second_path, second);
  add_groups(m, first_path, first);
  return m;
}

}  // namespace tril::doctor
