// BLEU and chrF of texts.
#pragma once

#include <nanobind/nanobind.h>

namespace tril::python {

void bind_metrics(nanobind::module_& m);

}  // namespace tril::python
