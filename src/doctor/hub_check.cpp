#include "doctor/hub_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "hub/disk_space.h"
#include "hub/settings.h"

namespace tril::doctor {
namespace {

namespace fs = std::filesystem;

// The path, or the nearest directory above it that exists.
fs::path existing(fs::path path) {
  std::error_code unreadable;
  while (!fs::exists(path, unreadable) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return path;
}

// A URL without the name and password that it may hold.
std::string without_login(std::string url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::size_t begin = scheme + 3, end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = std::string_view(url).substr(begin, end - begin).rfind('@');
  if (at != std::string_view::npos) url.erase(begin, at + 1);
  return url;
}

}  // namespace

HubState check_hub(const std::function<std::string(const std::string& name)>& variable) {
  HubState state;
  hub::HubSettings settings;
  try {
    settings = hub::read_settings(variable);
  } catch (const Error& e) {
    state.findings.push_back({"hub-settings", Severity::error, fmt::format("{}: {}", e.where(), e.message()),
                              "no model can be downloaded or found by its name", e.hint()});
    return state;
  }
  state.cache = settings.cache, state.endpoint = without_login(settings.endpoint), state.offline = settings.offline;
  state.has_token = !settings.token.empty(), state.token_origin = settings.token_origin;
  const fs::path place = existing(settings.cache);
  std::error_code unknown;
  const fs::space_info space = fs::space(place, unknown);
  if (!unknown) state.free_bytes = static_cast<std::int64_t>(space.available);
  if (!fs::is_directory(place, unknown) || access(place.c_str(), W_OK | X_OK) != 0)
    state.findings.push_back(
        {"hub-cache-unwritable", Severity::warning,
         fmt::format("{} is not a directory that can be written to", printable(place.string(), 200)),
         "no model can be downloaded", "change its permissions, or set HF_HUB_CACHE to another directory"});
  constexpr std::int64_t little = 1'000'000'000;
  if (state.free_bytes >= 0 && state.free_bytes < little)
    state.findings.push_back({"hub-disk-full", Severity::warning,
                              fmt::format("{} has {} left", printable(place.string(), 200),
                                          hub::bytes_text(static_cast<std::uint64_t>(state.free_bytes))),
                              "most models do not fit", "free some space, or set HF_HUB_CACHE to another directory"});
  return state;
}

}  // namespace tril::doctor
