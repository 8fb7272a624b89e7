// Searches over ids: requests and results without text, for tril.compat.
#pragma once

#include <nanobind/nanobind.h>

#include "models.h"

namespace tril::python {

void bind_ids(nb::module_& m, nb::class_<SharedModel>& model);

}  // namespace tril::python
