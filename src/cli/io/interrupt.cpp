#include "cli/io/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace tril::cli {
namespace {

constexpr std::size_t longest_line = std::size_t{64} << 20;

}  // namespace

Interrupt::Interrupt() {
  if (pipe(event_.data()) != 0) fail("", fmt::format("cannot wait for events ({})", std::strerror(errno)));
  for (const int end : event_) fcntl(end, F_SETFD, FD_CLOEXEC);
  fcntl(event_[1], F_SETFL, O_NONBLOCK);  // a full pipe is readable already
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  ending_ = true;
  watcher_.join();
  for (const int end : event_) close(end);
}

std::stop_token Interrupt::begin_answer() {
  const std::lock_guard lock(mutex_);
  answer_.emplace();
  return answer_->get_token();
}

void Interrupt::end_answer() {
  const std::lock_guard lock(mutex_);
  answer_.reset();
}

void Interrupt::watch() {
  using Clock = std::chrono::steady_clock;
  Clock::time_point stopped_at;
  while (!ending_) {
    const int signal = signals_.wait(std::chrono::milliseconds(50));
    if (signal == 0) continue;
    const std::lock_guard lock(mutex_);
    if (answer_ && answer_->stop_requested()) {
      if (Clock::now() - stopped_at < std::chrono::seconds(1)) continue;  // a duplicate of the same request
      signals_.end_by(signal);
    }
    if (answer_) {
      answer_->request_stop();
      stopped_at = Clock::now();
    }
    if (!answer_ || signal == SIGTERM) {
      const char one = 1;
      [[maybe_unused]] const ssize_t written = write(event_[1], &one, sizeof one);
    }
  }
}

std::optional<std::string> Interrupt::read_line() {
  for (;;) {
    pollfd event{event_[0], POLLIN, 0};
    if (poll(&event, 1, 0) > 0) return std::nullopt;
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (at_end_) {
      if (buffer_.empty()) return std::nullopt;
      return std::exchange(buffer_, {});
    }
    pollfd waits[] = {{event_[0], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0) {
      if (errno == EINTR) continue;
      fail("standard input", fmt::format("cannot wait for it ({})", std::strerror(errno)));
    }
    if (waits[0].revents != 0) return std::nullopt;
    char bytes[4096];
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("standard input", fmt::format("cannot be read ({})", std::strerror(errno)));
    at_end_ = n == 0;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    check(buffer_.size() <= longest_line, "standard input", "a line is longer than {} bytes", longest_line);
  }
}

}  // namespace tril::cli
