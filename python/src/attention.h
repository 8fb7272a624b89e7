// Attention of all layers and heads in one sentence.
#pragma once

#include <nanobind/nanobind.h>

#include "models.h"

namespace tril::python {

void bind_attention(nb::module_& m, nb::class_<SharedModel>& model);

}  // namespace tril::python
