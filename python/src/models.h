// What a loaded model tells besides translations and continuations: its shape, scores, logits, attention and traces.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "loaded.h"

namespace tril::python {

struct SharedModel {
  std::shared_ptr<const Loaded> loaded;

  const cli::LoadedModel& opened() const { return loaded->model; }
  const model::Model& model() const { return *loaded->model.model; }
  const Tokenizer& tokenizer() const { return *loaded->model.tokenizer; }
};

void bind_models(nb::module_& m);

}  // namespace tril::python
