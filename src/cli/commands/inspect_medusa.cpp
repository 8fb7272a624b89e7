#include "cli/commands/inspect_medusa.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/progress.h"
#include "cli/app/app.h"
#include "cli/io/standard_output.h"
#include "format/json_text.h"
#include "model_io/adapters/medusa_files.h"

namespace tril::cli {

int inspect_medusa(const std::string& directory, bool json) {
  const model::MedusaFiles files = model::MedusaFiles::open(directory);
  const nn::MedusaSizes& s = files.sizes();
  const bool own = s.own_vocab > 0;
  if (json) {
    const nlohmann::ordered_json out{
        {"directory", directory},
        {"medusa_heads", s.heads},
        {"layers", s.layers},
        {"d_model", s.d_model},
        {"output", own ? "own" : "shared"},
        {"vocabulary", own ? nlohmann::ordered_json(s.own_vocab) : nlohmann::ordered_json()},
        {"base_model", files.base_model()},
        {"parameters", files.parameters()}};
    write_stdout(json_text(out) + "\n");
    return exit_success;
  }
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<14} {}\n", name, value);
  };
  line("Medusa heads", fmt::format("{} of {}", s.heads, counted(s.layers, "layer")));
  line("d_model", format_count(s.d_model));
  line("output", own ? fmt::format("a matrix of each head's own, for {} tokens", format_count(s.own_vocab))
                     : "the model's matrix, which the heads share");
  line("for", files.base_model());
  line("parameters", format_count(files.parameters()));
  write_stdout(text);
  return exit_success;
}

}  // namespace tril::cli
