// tril.serve.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_server(nanobind::module_& m);

}  // namespace tril::python
