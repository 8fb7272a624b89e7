#include "loaded.h"

#include <algorithm>

#include "background.h"
#include "cli/options/find_models.h"
#include "errors.h"
#include "model_io/source/registry.h"

namespace tril::python {
namespace {

bool concerns_loading(const std::string& name) {
  LoadingOptions o;
  const Fields fields = fields_of(o);
  std::string field = name;
  std::replace(field.begin(), field.end(), '_', '-');
  return fields.find(field) != nullptr;
}

}  // namespace

Fields fields_of(LoadingOptions& o) {
  Fields f;
  f.group("Model");
  add_model_fields(f, o.decoding);
  f.add("pull", &o.pull, "download a model of the hub that is not in the cache");
  f.group("Several models");
  add_ensemble_fields(f, o.others);
  add_speculative_fields(f, o.others);
  return f;
}

const model::Model& Loaded::weights_in_float32() const {
  if (!changed_by_.empty())
    fail_usage("gradients",
               fmt::format("need the model's own weights in float32, but it was loaded with {}", changed_by_),
               "load the model again without it, or leave the gradients out");
  const std::lock_guard lock(mutex_);
  if (!trained_form_) trained_form_ = model::load(model.source);
  return *trained_form_;
}

SplitArguments split(const std::string& model, const Arguments& given) {
  SplitArguments s{.loading = {{"model", {model}}}, .calls = {}};
  for (const auto& one : given) (concerns_loading(one.first) ? s.loading : s.calls).push_back(one);
  return s;
}

std::shared_ptr<const Loaded> load(const Arguments& loading, const std::shared_ptr<const Tokenizer>& tokenizer) {
  LoadingOptions o;
  Fields fields = fields_of(o);
  set(fields, loading);
  std::shared_ptr<const Loaded> loaded;
  Background background;
  with_python_words(fields, [&] {
    fields.check_complete();
    background.run([&](const std::stop_token&) {
      cli::find_models(fields, {"model", "adapter", "models", "draft-model", "draft-heads"},
                       {.pull = o.pull, .quiet = true});
      loaded = std::make_shared<const Loaded>(o, tokenizer);
    });
    return 0;
  });
  return loaded;
}

void check_call(const Arguments& given) {
  for (const auto& [name, texts] : given)
    if (concerns_loading(name))
      fail_usage(name, "is given when the model is loaded, and cannot change in a call",
                 "load the model again with it");
}

}  // namespace tril::python
