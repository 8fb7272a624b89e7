#include "cli/options/find_models.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/as_utf8.h"
#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/options/pull_display.h"
#include "hub/cache.h"
#include "hub/pull.h"
#include "hub/repo_name.h"
#include "hub/url_model.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

// Asks at the terminal, wherever standard input and output lead. @return false without a terminal, or for a no
bool agrees(const std::string& question) {
  if (!stderr_is_terminal()) return false;
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  std::string answer;
  if (::write(terminal, question.data(), question.size()) == static_cast<ssize_t>(question.size()))
    for (char c = 0; ::read(terminal, &c, 1) == 1 && c != '\n' && answer.size() < 64;) answer += c;
  ::close(terminal);
  return answer == "y" || answer == "Y" || answer == "yes";
}

[[noreturn]] void fail_absent(const std::string& text, const hub::HubSettings& settings) {
  const std::string shown = printable(text, 300);
  fail(shown,
       fmt::format("no such file or directory, and no complete model of this name is in {}",
                   printable(settings.cache, 300)),
       settings.offline
           ? "check the path; HF_HUB_OFFLINE is set, so nothing is downloaded"
           : fmt::format("check the path, or download the model from {}: pass --pull, or run `tril pull {}`",
                         settings.endpoint, shown));
}

// The path of a model that is not a path; nothing if it is no name either.
std::optional<std::string> path_of_name(const std::string& text, const FindOptions& options) {
  const bool is_url = hub::is_url(text);
  const auto name = is_url ? std::nullopt : hub::repo_name_of(text);
  if (!is_url && !name) return std::nullopt;
  const hub::HubSettings settings = hub::settings_of_process();
  if (auto path = is_url ? hub::cached_url(settings, text) : hub::cached_model(settings, *name)) return path;
  // A name without an owner is a mistyped path more often than a model, and asking would tell it to the hub.
  const bool may_ask = is_url || name->repo.find('/') != std::string::npos;
  const std::string from = is_url ? "" : " from " + settings.endpoint;
  if (settings.offline ||
      !(options.pull ||
        (may_ask && agrees(fmt::format("{} is not in the cache. Download it{}? [y/N] ", printable(text, 300), from)))))
    fail_absent(text, settings);
  spdlog::info("downloading {}{}", printable(text, 300), from);
  PullDisplay display(printable(text), {.json = false, .quiet = options.quiet});
  const hub::PullOptions how{.connections = 4, .progress = [&](const hub::PullProgress& p) { display.show(p); }};
  return (is_url ? hub::pull_url(settings, text, how) : hub::pull(settings, *name, how)).path;
}

std::string found(const std::string& text, const FindOptions& options) {
  std::error_code none;
  if (fs::exists(fs::symlink_status(text, none))) return text;
  return path_of_name(text, options).value_or(text);
}

// A value of "[NAME=]DIR" or "NAME=DIR".
std::string found_named(const std::string& text, bool needs_name, const FindOptions& options) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return text.substr(0, equals + 1) + found(text.substr(equals + 1), options);
  if (needs_name) return text;  // the command refuses it
  const std::string path = found(text, options);
  const auto name = hub::repo_name_of(text);
  return path == text || !name ? path : name->repo + "=" + path;
}

}  // namespace

void find_models(Fields& fields, const std::vector<std::string>& names, const FindOptions& options) {
  for (const std::string& name : names) {
    Field& field = fields.at(name, "models");
    if (!field.given()) continue;
    const std::string& form = field.shown_value();
    const bool may_be_named = form.find("NAME=") != std::string::npos, needs_name = !form.starts_with("[NAME=]");
    std::vector<std::string> texts;
    for (const std::string& text : field.texts())
      texts.push_back(may_be_named ? found_named(text, needs_name, options) : found(text, options));
    if (texts != field.texts()) field.set(texts, field.given_at());
  }
}

std::string name_of_model(const std::string& path) {
  const fs::path model = fs::path(path).lexically_normal();
  const fs::path last = model.has_filename() ? model : model.parent_path();
  if (const auto repo = hub::repo_of_snapshot(last.string())) return *repo;
  return as_utf8(model.has_filename() ? model.stem().string() : last.filename().string());
}

}  // namespace tril::cli
