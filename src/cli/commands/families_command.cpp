// tril families: which model families and file formats load. The tables of docs/families.md and docs/model-directory.md.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "model_io/families/family_list.h"
#include "model_io/source/model_formats.h"

namespace tril::cli {
namespace {

using model::Family;

struct FamiliesOptions {
  bool json = false;
  std::optional<std::string> markdown;  ///< "families" or "formats"
};

std::string_view kind_name(Family::Kind kind) {
  return kind == Family::Kind::encoder_decoder ? "encoder-decoder" : "decoder-only";
}

std::string families_json() {
  nlohmann::ordered_json families = nlohmann::ordered_json::array(), formats = families;
  for (const Family& f : model::family_list())
    families.push_back({{"name", f.name}, {"kind", kind_name(f.kind)}, {"own", f.own}, {"description", f.sentence}});
  for (const model::ModelFormat& f : model::model_formats())
    formats.push_back({{"name", f.name}, {"paths", f.paths}, {"description", f.sentence}});
  return nlohmann::ordered_json{{"families", families}, {"formats", formats}}.dump() + "\n";
}

std::string families_text() {
  std::string text;
  for (const Family::Kind kind : {Family::Kind::encoder_decoder, Family::Kind::decoder}) {
    text += fmt::format("{} families (model_type in config.json)\n", kind_name(kind));
    for (const Family& f : model::family_list())
      if (f.kind == kind) text += fmt::format("  {:<25} {}\n", f.name, f.sentence);
    text += "\n";
  }
  text += "formats\n";
  for (const model::ModelFormat& f : model::model_formats())
    text += fmt::format("  {:<25} {}: {}\n", f.name, f.paths, f.sentence);
  return text;
}

std::string families_markdown() {
  std::string text;
  for (const Family::Kind kind : {Family::Kind::encoder_decoder, Family::Kind::decoder}) {
    text +=
        fmt::format("{}{} families:\n\n| `model_type` | file | what it is |\n|---|---|---|\n", text.empty() ? "" : "\n",
                    kind == Family::Kind::encoder_decoder ? "Encoder-decoder" : "Decoder-only");
    for (const Family& f : model::family_list())
      if (f.kind == kind)
        text +=
            fmt::format("| `{}` | `src/model/{}` | {}{} |\n", f.name, f.file, f.sentence,
                        f.own ? fmt::format("; `\"model_type\": \"tril\"`, `\"architecture\": \"{}\"`", f.name) : "");
  }
  return text;
}

std::string formats_markdown() {
  std::string text = "| format | path | what it is |\n|---|---|---|\n";
  for (const model::ModelFormat& f : model::model_formats())
    text += fmt::format("| {} | {} | {} |\n", f.name, f.paths, f.sentence);
  return text;
}

int print_families(const FamiliesOptions& o) {
  if (o.json)
    write_stdout(families_json());
  else if (o.markdown)
    write_stdout(o.markdown == "families" ? families_markdown() : formats_markdown());
  else
    write_stdout(families_text());
  return exit_success;
}

}  // namespace

void add_families(App& app) {
  auto o = std::make_shared<FamiliesOptions>();
  Fields f;
  f.add("json", &o->json, "print one JSON object");
  f.add("markdown", &o->markdown, "print a table of the documentation").choices({"families", "formats"});
  f.excludes("json", "markdown", "each is a form of the output");
  app.add(
      {.name = "families",
       .summary = "list the supported model families and file formats",
       .description = "",
       .examples = {{"tril families", "all of them, one per line"}, {"tril families --json", "the same for scripts"}},
       .fields = f,
       .apply_preset = {},
       .run = [o](const Invocation&) { return print_families(*o); }});
}

}  // namespace tril::cli
