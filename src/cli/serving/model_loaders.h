// The models of `tril serve`, as its options name them, and how the server loads them.
#pragma once

#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/serving/serve_options.h"
#include "serve/api/language_graph.h"
#include "serve/engine/models.h"

namespace tril::cli {

/// Carries an error from one thread to another, which rethrows it.
class Refused {
 public:
  void say(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// The values of --model, and NAME=PATH for each model in the directories of --models, by name.
/// @throws Error(usage) without a model, for a directory without one, or if two have the same name
std::vector<std::string> models_of(const ServeOptions& o);

/// @param o        with all models in ServeOptions::models
/// @param refused  receives the error of a model that does not fit the options; it must outlive the loaders
/// @throws Error(usage) for a value without a name, or a path that is no model
std::vector<serve::ModelLoader> model_loaders(const ServeOptions& o, Refused& refused);

/// Loaders of the models that have appeared in the directories of --models. What is no model yet is logged and left out.
/// @param o        as for model_loaders()
/// @param ignored  receives errors that would end a server at its start; likewise
std::vector<serve::ModelLoader> new_model_loaders(const ServeOptions& o, const serve::Models& known, Refused& ignored);

/// The pivots of translations. @throws Error(usage) for a text that is not a language code
serve::PivotOptions pivot_options(const ServeOptions& o);

/// The limits of files to translate.
serve::DocumentLimits document_limits(const ServeOptions& o);

/// When models are loaded and unloaded. @throws Error(usage) for options that contradict each other
serve::ModelsOptions models_options(const ServeOptions& o);

}  // namespace tril::cli
