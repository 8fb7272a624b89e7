// The program `tril` within Python, and BLEU and chrF.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_program(nanobind::module_& m);

}  // namespace tril::python
