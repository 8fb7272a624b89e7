#include "server.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <condition_variable>
#include <csignal>
#include <mutex>

#include "arguments.h"
#include "background.h"
#include "cli/commands/run_server.h"
#include "cli/options/find_models.h"
#include "errors.h"

namespace tril::python {
namespace {

// A running server.
class Server {
 public:
  explicit Server(const Arguments& given) : fields_(fields_of(options_)) {
    options_.access_log = "none";  // standard output is the program's
    set(fields_, given);
    with_python_words(fields_, [&] {
      fields_.check_complete();
      background_.begin([this](const std::stop_token&) {
        cli::find_models(fields_, {"model", "adapter"}, {.pull = true, .quiet = true});
        cli::run_server(options_, {.wait = [this](std::chrono::milliseconds most) { return wait_for_signal(most); },
                                   .end_by = [](int) {},
                                   .listening = [this](std::uint16_t port) { listen(port); }});
      });
      wait_until([this] { return port() != 0; });
      return 0;
    });
  }
  ~Server() { end(); }

  int port() {
    const std::lock_guard lock(mutex_);
    return port_;
  }
  void end() { signal(SIGTERM); }
  void reload() { signal(SIGHUP); }
  /// Waits until the server has ended. The caller holds the interpreter's lock, which others may have meanwhile.
  void wait() {
    with_python_words(fields_, [&] {
      wait_until([] { return false; });
      return 0;
    });
  }

 private:
  void signal(int number) {
    const std::lock_guard lock(mutex_);
    if (signal_ != SIGTERM) signal_ = number;
    changed_.notify_all();
  }
  int wait_for_signal(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [&] { return signal_ != 0 && !(signal_ == SIGTERM && ending_); });
    if (signal_ == SIGTERM && std::exchange(ending_, true)) return 0;
    return signal_ == SIGTERM ? SIGTERM : std::exchange(signal_, 0);
  }
  void listen(std::uint16_t port) {
    const std::lock_guard lock(mutex_);
    port_ = port;
    changed_.notify_all();
  }
  // Waits until the server has ended or what is waited for is there. @throws what ended the server
  template <class Is>
  void wait_until(const Is& is) {
    while (!is()) {
      bool ended = false;
      {
        const nb::gil_scoped_release others;
        ended = background_.wait(std::chrono::milliseconds(50));
      }
      obey_signals();
      if (!ended) continue;
      background_.rethrow();
      return;
    }
  }

  cli::ServeOptions options_;
  Fields fields_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int port_ = 0, signal_ = 0;
  bool ending_ = false;
  Background background_;  // last: its thread ends before what it uses
};

}  // namespace

void bind_server(nb::module_& m) {
  nb::class_<Server>(m, "Server")
      .def(
          "__init__", [](Server* self, const nb::dict& options) { new (self) Server(arguments_of(options)); },
          nb::arg("options"))
      .def_prop_ro("port", &Server::port)
      .def("end", &Server::end)
      .def("reload", &Server::reload)
      .def("wait", &Server::wait);
  m.def("serve_options", [] {
    cli::ServeOptions o;
    return described(fields_of(o));
  });
}

}  // namespace tril::python
