// The extension module tril._tril: what tril/*.py is made of.
#include <nanobind/nanobind.h>

#include "base/version.h"
#include "cancel.h"
#include "errors.h"
#include "generator.h"
#include "hypotheses.h"
#include "loaded.h"
#include "messages.h"
#include "metrics.h"
#include "models.h"
#include "program.h"
#include "server.h"
#include "tokenizer.h"
#include "training.h"
#include "translator.h"

NB_MODULE(_tril, m) {
  using namespace tril::python;
  m.doc() = "The compiled part of the package tril.";
  m.attr("__version__") = nanobind::str(tril::version.data(), tril::version.size());
  collect_messages();
  bind_errors(m);
  bind_cancel(m);
  bind_tokenizer(m);
  bind_models(m);
  bind_hypotheses(m);
  bind_translator(m);
  bind_generator(m);
  bind_metrics(m);
  bind_training(m);
  bind_server(m);
  bind_program(m);
  m.def("loading_options", [] {
    LoadingOptions o;
    return described(fields_of(o));
  });
}
