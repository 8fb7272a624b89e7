// tril.Translator.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_translator(nanobind::module_& m);

}  // namespace tril::python
