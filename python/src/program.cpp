#include "program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/commands/program.h"
#include "hub/settings.h"

namespace tril::python {

namespace nb = nanobind;

void bind_program(nb::module_& m) {
  m.def(
      "main",
      [](const std::vector<std::string>& args) {
        const nb::gil_scoped_release others;
        return cli::run_program(args);
      },
      nb::arg("args"));
  m.def("system_certificates", [] { return hub::first_present(hub::certificate_files()); });
}

}  // namespace tril::python
