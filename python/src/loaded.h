// A model that calls share: opened and loaded once, with the options that concern loading.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>

#include "arguments.h"
#include "base/placement.h"
#include "cli/commands/translation_setup.h"
#include "decode/models/model_set.h"

namespace tril::python {

/// The options that are given when a model is loaded, and cannot change afterwards.
struct LoadingOptions {
  DecodingOptions decoding;
  ModelSetOptions others;
  bool pull = true;
};
Fields fields_of(LoadingOptions& o);

struct Loaded {
  Loaded(const LoadingOptions& o, std::shared_ptr<const Tokenizer> tokenizer)
      : placed(placed_of(o.decoding)),
        model(o.decoding, std::move(tokenizer)),
        others(o.others, o.decoding, *model.model, model.tokenizer.get()),
        changed_by_(changed_weights_by(o.decoding)) {}

  /// The model with each weight by itself in float32, as gradients need it. The first call loads it.
  /// @throws Error(usage) if the model was loaded with `precision` or `adapter`
  const model::Model& weights_in_float32() const;

  /// Workers of one thread each, as the options say.
  search::WorkerPool workers() const { return workers_of(placed); }
  /// Gives the options of a call the threads of this model, and their places.
  void place(DecodingOptions& o) const {
    o.threads = placed.threads, o.placement = placed.placement, o.settled = placed.settled;
  }

  const DecodingOptions placed;  ///< threads, placement and settled alone
  cli::LoadedModel model;
  ModelSet others;

 private:
  // Settled once: every call uses it, whatever thread makes the call.
  static DecodingOptions placed_of(const DecodingOptions& o) {
    DecodingOptions placed;
    placed.threads = o.threads, placed.placement = o.placement;
    settle_placement(placed);
    return placed;
  }

  std::string changed_by_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const model::Model> trained_form_;
};

/// The values of the arguments that concern loading, and the other arguments, which are defaults of calls.
struct SplitArguments {
  Arguments loading, calls;
};
SplitArguments split(const std::string& model, const Arguments& given);

/// Finds and loads the model; the caller holds the interpreter's lock, which others may have meanwhile. Names of models on the hub
/// are downloaded unless `pull` is false.
/// @param tokenizer  in place of the model's own; null: that
std::shared_ptr<const Loaded> load(const Arguments& loading,
                                   const std::shared_ptr<const Tokenizer>& tokenizer = nullptr);

/// @throws Error(usage) for an argument of a call that concerns loading
void check_call(const Arguments& given);

}  // namespace tril::python
