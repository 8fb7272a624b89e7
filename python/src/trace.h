// One pass of a model watched: its values by name, without copies.
#pragma once

#include <nanobind/nanobind.h>

#include "models.h"

namespace tril::python {

void bind_trace(nb::module_& m, nb::class_<SharedModel>& model);

}  // namespace tril::python
