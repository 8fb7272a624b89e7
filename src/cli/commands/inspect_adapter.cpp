#include "cli/commands/inspect_adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/number_text.h"
#include "base/progress.h"
#include "cli/app/app.h"
#include "cli/io/standard_output.h"
#include "format/json_text.h"
#include "model_io/adapters/adapter.h"

namespace tril::cli {
namespace {

// "LoRA", "rsLoRA", "DoRA"
std::string kind_of(const model::AdapterConfig& c) {
  return c.dora ? "DoRA" : c.rank_stabilised ? "rsLoRA" : "LoRA";
}

std::string last_of(const std::string& module) {
  return module.substr(module.rfind('.') + 1);
}

}  // namespace

bool is_adapter_directory(const std::string& directory) {
  const std::filesystem::path path(directory);
  return std::filesystem::exists(path / "adapter_config.json") && !std::filesystem::exists(path / "config.json");
}

int inspect_adapter(const std::string& directory, bool json) {
  const model::Adapter adapter = model::Adapter::open(directory);
  std::set<std::int64_t> ranks;
  std::set<std::string> adapted, whole, biases;
  for (const auto& [name, m] : adapter.modules()) {
    if (m.a) ranks.insert(adapter.config().rank_of(name)), adapted.insert(last_of(name));
    if (!m.a && m.weight) whole.insert(last_of(name));
    if (m.bias || m.b_bias) biases.insert(last_of(name));
  }
  const nlohmann::ordered_json out{{"directory", directory}, {"adapter", kind_of(adapter.config())},
                                   {"ranks", ranks},         {"modules", adapter.modules().size()},
                                   {"adapted", adapted},     {"replaced", whole},
                                   {"biases", biases},       {"parameters", adapter.parameters()}};
  if (json) {
    write_stdout(json_text(out) + "\n");
    return exit_success;
  }
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<14} {}\n", name, value);
  };
  line("adapter", kind_of(adapter.config()));
  line("rank", fmt::format("{}", fmt::join(ranks, ", ")));
  line("changes", fmt::format("{} in {}", fmt::join(adapted, " "), counted(adapter.modules().size(), "module")));
  line("replaces", fmt::format("{}", fmt::join(whole, " ")));
  line("biases", fmt::format("{}", fmt::join(biases, " ")));
  line("parameters", format_count(adapter.parameters()));
  write_stdout(text);
  return exit_success;
}

}  // namespace tril::cli
