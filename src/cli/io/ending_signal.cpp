#include "cli/io/ending_signal.h"

#include <chrono>

namespace tril::cli {
namespace {

// As nohup does with SIGHUP, and a shell with SIGINT for what it starts in the background.
bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

EndingSignal::EndingSignal() : watcher_([this] { watch(); }) {}

EndingSignal::~EndingSignal() {
  is_over_ = true;
  pthread_kill(watcher_.native_handle(), SIGUSR1);  // wakes it, and it alone
  watcher_.join();
}

void EndingSignal::watch() const {
  while (!is_over_) {
    const int signal = signals_.wait(std::chrono::milliseconds(500));
    if (signal == 0 || is_over_ || is_ignored(signal)) continue;
    signals_.end_by(signal);
  }
}

}  // namespace tril::cli
