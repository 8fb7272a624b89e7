#include "hub/find_model.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "hub/repo_name.h"
#include "hub/settings.h"
#include "hub/url_model.h"

namespace tril::hub {
namespace {

[[noreturn]] void fail_absent(const std::string& text, const HubSettings& settings, const std::string& remedy) {
  const std::string shown = printable(text, 300);
  fail(shown,
       fmt::format("no such file or directory, and no complete model of this name is in {}",
                   printable(settings.cache, 300)),
       settings.offline ? "check the path; HF_HUB_OFFLINE is set, so nothing is downloaded"
                        : fmt::format("check the path, or download the model from {}: {}, or run `tril pull {}`",
                                      settings.endpoint, remedy, shown));
}

// The path of a model that is not a path; nothing if it is no name either.
std::optional<std::string> path_of_name(const std::string& text, const FindOptions& options) {
  const bool url = is_url(text);
  const auto name = url ? std::nullopt : repo_name_of(text);
  if (!url && !name) return std::nullopt;
  const HubSettings settings = settings_of_process();
  if (auto path = url ? cached_url(settings, text) : cached_model(settings, *name)) return path;
  // A name without an owner is a mistyped path more often than a model, and asking would tell it to the hub.
  const bool may_ask = url || name->repo.find('/') != std::string::npos;
  const std::string from = url ? "" : " from " + settings.endpoint;
  const auto agrees = [&] {
    return may_ask && options.agrees &&
           options.agrees(fmt::format("{} is not in the cache. Download it{}? [y/N] ", printable(text, 300), from));
  };
  if (settings.offline || !(options.pull || agrees())) fail_absent(text, settings, options.remedy);
  logger()->info("downloading {}{}", printable(text, 300), from);
  PullOptions how;
  if (options.show) how.progress = options.show(printable(text));
  return (url ? pull_url(settings, text, how) : pull(settings, *name, how)).path;
}

}  // namespace

std::string find_model(const std::string& text, const FindOptions& options) {
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(text, none))) return text;
  return path_of_name(text, options).value_or(text);
}

}  // namespace tril::hub
