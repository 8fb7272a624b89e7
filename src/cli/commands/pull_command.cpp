// tril pull: fetches a model by its name into the cache that Python's huggingface_hub uses too.
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/number_text.h"
#include "base/printable.h"
#include "base/progress.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "cli/options/pull_display.h"
#include "format/json_text.h"
#include "hub/disk_space.h"
#include "hub/pull.h"
#include "hub/repo_name.h"
#include "hub/url_model.h"

namespace tril::cli {
namespace {

struct FetchOptions {
  std::string model;
  std::int64_t connections = 4;
  bool json = false;
};

Fields fields_of(FetchOptions& o) {
  Fields f;
  f.group("Model");
  f.add("model", &o.model,
        "OWNER/NAME of a model on the hub; @REVISION selects a branch, tag, commit or refs/pr/N, and :FILE one GGUF "
        "file or archive; or the HTTPS URL of a .zip, .argosmodel or .gguf file")
      .value_name("NAME")
      .positional()
      .required();
  f.group("Transfer");
  f.add("connections", &o.connections, "number of files to download at once").at_least(1).at_most(64);
  f.group("Output");
  f.add("json", &o.json,
        "print JSON: one line each second during the transfer, and a last one with the path and the files");
  return f;
}

hub::Pulled fetch(const FetchOptions& o, const hub::PullOptions& how) {
  const hub::HubSettings settings = hub::settings_of_process();
  if (hub::is_url(o.model)) return hub::pull_url(settings, o.model, how);
  const auto name = hub::repo_name_of(o.model);
  if (!name)
    fail_usage("model", "\"" + printable(o.model, 300) + "\" is not the name of a model on a hub",
               "write OWNER/NAME, OWNER/NAME@REVISION, OWNER/NAME:FILE.gguf, or an https:// URL");
  return hub::pull(settings, *name, how);
}

int pull(const FetchOptions& o, bool quiet) {
  const double start = seconds_now();
  PullDisplay display(printable(o.model), {.json = o.json, .quiet = quiet});
  const hub::Pulled pulled = fetch(o, {.connections = static_cast<int>(o.connections),
                                       .progress = [&](const hub::PullProgress& p) { display.show(p); }});
  display.finish();
  if (!o.json) {
    spdlog::info("{}: {}, {} of {} downloaded in {}", printable(o.model, 300), counted(pulled.files.size(), "file"),
                 hub::bytes_text(pulled.fetched), hub::bytes_text(pulled.bytes),
                 format_duration(seconds_now() - start));
    write_stdout(pulled.path + "\n");
    return exit_success;
  }
  nlohmann::ordered_json out{{"event", "done"},
                             {"model", o.model},
                             {"path", pulled.path},
                             {"commit", nullptr},
                             {"bytes", pulled.bytes},
                             {"fetched", pulled.fetched},
                             {"files", nlohmann::ordered_json::array()}};
  if (!pulled.commit.empty()) out["commit"] = pulled.commit;
  for (const hub::PulledFile& one : pulled.files) {
    nlohmann::ordered_json file{{"name", one.file.name}, {"size", one.file.size}, {"was_there", one.was_there}};
    if (!one.file.sum.empty()) file[one.file.kind == hub::SumKind::git ? "blob" : "sha256"] = one.file.sum;
    out["files"].push_back(std::move(file));
  }
  write_stdout(json_text(out) + "\n");
  return exit_success;
}

}  // namespace

void add_pull(App& app) {
  auto o = std::make_shared<FetchOptions>();
  app.add({.name = "pull",
           .summary = "download a published model by name",
           .description =
               "Downloads only the files that a model needs: the configuration, the tokenizer, and the weights, "
               "as safetensors if there are any. They go into the cache of Hugging Face's Python libraries, "
               "which find them there too. After an interruption, the same command resumes the download. Sizes "
               "and checksums are checked. Nothing that is downloaded is run. Prints the path of the model. "
               "HF_ENDPOINT, HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_HUB_OFFLINE and https_proxy apply.",
           .examples = {{"tril pull Helsinki-NLP/opus-mt-en-de",
                         "a model, for use as `tril translate -m Helsinki-NLP/opus-mt-en-de`"},
                        {"tril pull facebook/nllb-200-distilled-600M@refs/pr/19",
                         "the safetensors of a pull request; the main branch has only pytorch_model.bin"},
                        {"tril pull Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf --json",
                         "one GGUF file, with progress and result as JSON"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation& i) { return pull(*o, i.quiet); }});
}

}  // namespace tril::cli
