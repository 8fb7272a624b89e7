#include "cli/io/stop_signal.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace tril::cli {
namespace {

// The signals are the process's own, so what came of them is too; objects within another one's life share its watcher.
std::atomic<bool> signal_came = false;
std::atomic<int> alive = 0;
std::stop_source stop_source;

}  // namespace

StopSignal::StopSignal(std::string announcement) : announcement_(std::move(announcement)) {
  if (alive.fetch_add(1) > 0) return;
  signal_came = false;
  stop_source = std::stop_source();
  // A terminal that is closed ends the work as they do, unless nohup or a like has it ignored.
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
    // Some senders signal both the process and its group: what follows within a second is the same wish.
    if (Clock::now() - first < std::chrono::seconds(1)) continue;
    // A later one: whoever sends it does not want to wait.
    signals_->end_by(signal);
  }
}

}  // namespace tril::cli
