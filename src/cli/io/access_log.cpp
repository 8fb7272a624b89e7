#include "cli/io/access_log.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/printable.h"
#include "cli/io/standard_output.h"

namespace tril::cli {
namespace {

constexpr std::chrono::milliseconds write_every{50};
constexpr std::size_t enough = std::size_t{64} << 10, most = std::size_t{16} << 20;  // bytes

}  // namespace

AccessLog::AccessLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  if (path != "-") {
    file_.open(path, std::ios::app);
    if (!file_) fail(printable(path, 400), fmt::format("the access log cannot be written ({})", std::strerror(errno)));
  }
  thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void AccessLog::write(const std::string& line) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (lost_ || waiting_.size() + line.size() > most) return;
    const bool was_enough = waiting_.size() >= enough;
    wakes = waiting_.empty();
    waiting_ += line;
    waiting_ += '\n';
    wakes |= !was_enough && waiting_.size() >= enough;
  }
  if (wakes) changed_.notify_one();
}

void AccessLog::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    changed_.wait_for(lock, write_every, [&] { return stopping_ || waiting_.size() >= enough; });
    if (waiting_.empty()) return;
    const std::string lines = std::exchange(waiting_, {});
    lock.unlock();
    put(lines);
    lock.lock();
    if (stopping_ && waiting_.empty()) return;
  }
}

void AccessLog::put(const std::string& lines) {
  try {
    if (path_ == "-")
      write_stdout(lines);
    else if (!(file_ << lines << std::flush))
      fail(path_, "cannot be written");
  } catch (const std::exception& error) {  // serving matters more than its log
    spdlog::error("the access log has stopped, but serving continues: {}", error.what());
    const std::lock_guard lock(mutex_);
    lost_ = true;
  }
}

}  // namespace tril::cli
