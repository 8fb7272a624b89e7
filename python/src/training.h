// tril.train.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_training(nanobind::module_& m);

}  // namespace tril::python
