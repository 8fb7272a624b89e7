// Scores of given translations and texts, and logits.
#pragma once

#include <nanobind/nanobind.h>

#include "models.h"

namespace tril::python {

void bind_scores(nb::module_& m, nb::class_<SharedModel>& model);

}  // namespace tril::python
