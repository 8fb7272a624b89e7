#include "metrics.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "background.h"
#include "cli/commands/eval_options.h"
#include "errors.h"

namespace tril::python {
namespace {

std::string evaluate(const std::vector<std::string>& texts, const std::vector<std::vector<std::string>>& references,
                     const nb::dict& options) {
  cli::EvalOptions o;
  Fields fields;
  cli::add_score_fields(fields, o);
  set(fields, arguments_of(options));
  std::string json;
  Background background;
  with_python_words(fields, [&] {
    background.run([&](const std::stop_token&) { json = cli::scores_json(o, texts, references); });
    return 0;
  });
  return json;
}

}  // namespace

void bind_metrics(nb::module_& m) {
  m.def("evaluate", &evaluate, nb::arg("texts"), nb::arg("references"), nb::arg("options"));
  m.def("evaluate_options", [] {
    cli::EvalOptions o;
    Fields fields;
    cli::add_score_fields(fields, o);
    return described(fields);
  });
}

}  // namespace tril::python
