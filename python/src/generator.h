// tril.Generator.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_generator(nanobind::module_& m);

}  // namespace tril::python
