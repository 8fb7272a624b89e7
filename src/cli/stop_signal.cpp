#include "cli/stop_signal.h"

#include <csignal>

namespace tril::cli {
namespace {

// A handler can reach nothing but static memory.
volatile std::sig_atomic_t signal_came = 0;

void catch_with(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  signal_came = 0;
  catch_with([](int) { signal_came = 1; }, static_cast<int>(SA_RESTART | SA_RESETHAND));
}

StopSignal::~StopSignal() {
  catch_with(SIG_DFL, 0);
}

bool StopSignal::came() const {
  return signal_came != 0;
}

}  // namespace tril::cli
