#include "cli/options/find_models.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/as_utf8.h"
#include "base/log.h"
#include "cli/options/pull_display.h"
#include "hub/cache.h"
#include "hub/find_model.h"
#include "hub/repo_name.h"

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

hub::FindOptions how_to_find(const FindOptions& options) {
  return {.pull = options.pull,
          .agrees = agrees,
          .show =
              [quiet = options.quiet](const std::string& name) {
                auto display = std::make_shared<PullDisplay>(name, PullDisplayOptions{.json = false, .quiet = quiet});
                return [display](const hub::PullProgress& p) { display->show(p); };
              },
          .remedy = "pass --pull"};
}

std::string found(const std::string& text, const FindOptions& options) {
  return hub::find_model(text, how_to_find(options));
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
