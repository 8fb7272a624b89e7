#include "cli/io/stop_signal.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace tril::cli {
namespace {

// Signals belong to the process, and so does this state; objects whose lifetimes overlap share one watcher.
std::atomic<bool> signal_came = false;
std::atomic<int> alive = 0;
std::stop_source stop_source;

}  // namespace

StopSignal::StopSignal(std::string announcement) : announcement_(std::move(announcement)) {
  if (alive.fetch_add(1) > 0) return;
  signal_came = false;
  stop_source = std::stop_source();
  // A closed terminal ends the work too, unless nohup or the like ignores the signal.
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler == SIG_IGN)
    signals_.emplace({SIGINT, SIGTERM, SIGUSR1});
  else
    signals_.emplace({SIGINT, SIGTERM, SIGUSR1, SIGHUP});
  watcher_ = std::thread([this] { watch(); });
}

StopSignal::~StopSignal() {
  alive.fetch_sub(1);
  if (!watcher_.joinable()) return;
  ending_ = true;
  watcher_.join();
}

bool StopSignal::came() const {
  return signal_came;
}

std::stop_token StopSignal::token() const {
  return stop_source.get_token();
}

void StopSignal::watch() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point first;
  while (!ending_) {
    const int signal = signals_->wait(std::chrono::milliseconds(50));
    if (signal == 0) continue;
    if (!signal_came.exchange(true)) {
      first = Clock::now();
      stop_source.request_stop();
      if (!announcement_.empty()) spdlog::info("{}", announcement_);
    }
    // Some senders signal both the process and its group: signals within a second are one request.
    if (Clock::now() - first < std::chrono::seconds(1)) continue;
    // A later signal ends the program as soon as no output is being put in its place.
    signals_->end_by(signal);
  }
}

}  // namespace tril::cli
