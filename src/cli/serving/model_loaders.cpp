#include "cli/serving/model_loaders.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/printable.h"
#include "cli/serving/named_values.h"
#include "cli/serving/served_model.h"
#include "language/code.h"
#include "model_io/source/model_source.h"
#include "serve/api/form_body.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

// The endings of files that are a whole model.
constexpr std::array model_endings{".gguf", ".argosmodel", ".npz", ".bin", ".zip"};

// NAME=PATH for each model in a directory, by name.
std::vector<std::string> models_in(const std::string& directory) {
  std::error_code problem;
  std::vector<std::string> list;
  for (fs::directory_iterator at(directory, problem), end; !problem && at != end; at.increment(problem)) {
    const fs::path& path = at->path();
    const std::string name = path.filename().string(), ending = path.extension().string();
    if (name.starts_with('.')) continue;
    if (!at->is_directory() && std::find(model_endings.begin(), model_endings.end(), ending) == model_endings.end()) {
      spdlog::warn("{}: is not a model and is ignored", printable(path.string()));
      continue;
    }
    if (name.find('=') != name.npos)
      fail_usage("--models", fmt::format("\"{}\" contains =, which no model's name may contain", printable(name)),
                 "rename it, or pass it to --model as NAME=PATH");
    list.push_back(name + "=" + path.string());
  }
  if (problem) fail_usage("--models", fmt::format("{}: {}", printable(directory), problem.message()));
  if (list.empty())
    fail_usage("--models", fmt::format("{} contains no model", printable(directory)),
               "each of its directories and files is to be one model");
  std::sort(list.begin(), list.end());
  return list;
}

// Checks what the options say about a model. An error at the first attempt ends the server.
class ModelChecks {
 public:
  ModelChecks(const ServeOptions& o, std::string name, Refused& refused)
      : options_(&o), name_(std::move(name)), refused_(&refused) {}

  void check(const serve::Loaded& l) {
    const bool at_start = std::exchange(is_first_, false);
    try {
      check_languages(l, name_, *options_);
      check_cache(l, name_, *options_);
      serve::check_model_size(name_, l.bytes, options_->model_memory);
    } catch (...) {
      if (at_start) refused_->say(std::current_exception());
      throw;
    }
  }

 private:
  const ServeOptions* options_;
  std::string name_;
  Refused* refused_;
  bool is_first_ = true;
};

serve::ModelLoader loader_of(const std::shared_ptr<const ServeOptions>& options, const std::string& text,
                             Refused& refused) {
  const auto [name, directory] = named(text);
  check(!name.empty() && !directory.empty(), "--model", "expected [NAME=]DIR, got \"{}\"", text);
  try {
    model::ModelSource::open(directory);
  } catch (const Error& error) {
    fail_usage("--model", error.what());
  }
  // Both are called by one thread.
  const auto checks = std::make_shared<ModelChecks>(*options, name, refused);
  const auto loaded = [options, checks, n = name, d = directory](Weights weights) {
    serve::Loaded l = load_served(*options, n, d, weights);
    checks->check(l);
    return l;
  };
  return {.name = name,
          .load = [loaded] { return loaded(Weights::read); },
          .describe = [loaded] { return serve::profile_of(loaded(Weights::none)); }};
}

}  // namespace

std::vector<std::string> models_of(const ServeOptions& o) {
  std::vector<std::string> all = o.models;
  for (const std::string& directory : o.model_directories)
    for (std::string& model : models_in(directory)) all.push_back(std::move(model));
  if (all.empty())
    fail_usage("--model", "is missing", "pass --model DIR for each model, or --models with a directory of them");
  check_names(all, "--model");
  return all;
}

std::vector<serve::ModelLoader> model_loaders(const ServeOptions& o, Refused& refused) {
  const auto options = std::make_shared<const ServeOptions>(o);
  std::vector<serve::ModelLoader> loaders;
  for (const std::string& text : o.models) loaders.push_back(loader_of(options, text, refused));
  return loaders;
}

std::vector<serve::ModelLoader> new_model_loaders(const ServeOptions& o, const serve::Models& known, Refused& ignored) {
  std::vector<std::string> found;
  const auto or_log = [](const auto& job) {
    try {
      job();
    } catch (const Error& error) {
      spdlog::error("{}", error.what());
    }
  };
  for (const std::string& directory : o.model_directories)
    or_log([&] {
      for (std::string& text : models_in(directory)) found.push_back(std::move(text));
    });
  std::erase_if(found, [&](const std::string& text) { return known.knows(serve::model_name(named(text).first)); });
  std::vector<serve::ModelLoader> loaders;
  or_log([&] {
    check_names(found, "--models");
    ServeOptions all = o;
    all.models.insert(all.models.end(), found.begin(), found.end());
    const auto options = std::make_shared<const ServeOptions>(std::move(all));
    for (const std::string& text : found) or_log([&] { loaders.push_back(loader_of(options, text, ignored)); });
  });
  return loaders;
}

serve::PivotOptions pivot_options(const ServeOptions& o) {
  for (const std::string& language : o.pivot) language_of(language, "--pivot");  // refuses what is none
  return {o.max_pivots, o.pivot};
}

serve::DocumentLimits document_limits(const ServeOptions& o) {
  const std::int64_t largest =
      serve::Documents::bytes_of(static_cast<std::size_t>(o.max_document), serve::most_field_bytes);
  if (o.max_document > 0 && largest > o.document_memory)
    fail_usage(
        "--document-memory",
        fmt::format("one file of --max-document counts {} bytes, but {} are allowed", largest, o.document_memory),
        "pass more than twice --max-document, or --max-document 0 for a server without files");
  for (const auto& [option, seconds] :
       {std::pair("--keep-documents", o.keep_documents), std::pair("--document-timeout", o.document_timeout)})
    if (o.max_document > 0 && seconds <= 0)
      fail_usage(option, "expected more than 0 seconds, got 0", "pass 10m, for example");
  return {.most_bytes = static_cast<std::size_t>(o.max_document),
          .memory = o.document_memory,
          .keep_seconds = o.keep_documents,
          .timeout_seconds = o.document_timeout};
}

serve::ModelsOptions models_options(const ServeOptions& o) {
  const bool bounded = o.model_memory > 0 || o.idle_unload > 0;
  return {.at_start = o.load ? *o.load == "at-start" : !bounded,
          .on_demand = bounded || o.load == "on-demand",
          .memory = o.model_memory,
          .idle_seconds = o.idle_unload,
          .most_waiting = o.queue_size};
}

}  // namespace tril::cli
