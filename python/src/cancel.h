// tril.Cancel: cancels a running call from another thread.
#pragma once

#include <nanobind/nanobind.h>

#include <stop_token>

namespace tril::python {

struct Cancel {
  std::stop_source source;
};

/// The token of a Cancel, which may be null.
inline std::stop_token token_of(const Cancel* cancel) {
  return cancel ? cancel->source.get_token() : std::stop_token();
}

inline void bind_cancel(nanobind::module_& m) {
  nanobind::class_<Cancel>(m, "Cancel",
                           "Cancels running calls from another thread: pass it as `cancel` and call request().")
      .def(nanobind::init<>())
      .def(
          "request", [](Cancel& c) { c.source.request_stop(); },
          "Requests the calls to end after their current step. Their results so far have stop_reason \"cancelled\".")
      .def_prop_ro(
          "requested", [](const Cancel& c) { return c.source.stop_requested(); }, "Whether request() was called.");
}

}  // namespace tril::python
