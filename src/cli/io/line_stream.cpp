#include "cli/io/line_stream.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "corpus/reader.h"

namespace tril::cli {

// Shared with the reading thread, which may outlive the stream: a read from a terminal cannot be cancelled.
struct LineStream::State {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::string> lines;
  std::size_t capacity = 0;
  bool at_end = false, abandoned = false;
  std::int64_t invalid = 0;
  std::exception_ptr error;

  void read(const std::function<LineReader&()>& open, const Passage& passage) {
    std::string line;
    std::exception_ptr failure;
    try {
      LineReader& reader = open();
      reader.skip(passage.first);
      for (std::int64_t n = 0; n < passage.count; ++n) {
        const Line kind = reader.next(line);
        if (kind == Line::end) break;
        std::unique_lock lock(mutex);
        invalid += kind == Line::invalid ? 1 : 0;
        changed.wait(lock, [this] { return abandoned || lines.size() < capacity; });
        if (abandoned) return;
        lines.push_back(std::move(line));
        changed.notify_all();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    error = failure;
    at_end = true;
    changed.notify_all();
  }
};

LineStream::LineStream(const std::string& path, std::size_t capacity, const ReadOptions& options,
                       const Passage& passage)
    : state_(std::make_shared<State>()) {
  state_->capacity = capacity;
  // A file that cannot be read is reported at once, but reading a pipe (FIFO) waits for its writer.
  std::error_code ignored;
  const bool waits = path != "-" && std::filesystem::is_fifo(path, ignored);
  std::thread([state = state_, path, options, passage,
               reader = waits ? nullptr : std::make_shared<LineReader>(path, options)]() mutable {
    state->read(
        [&]() -> LineReader& {
          if (!reader) reader = std::make_shared<LineReader>(path, options);
          return *reader;
        },
        passage);
  }).detach();
}

LineStream::~LineStream() {
  const std::lock_guard lock(state_->mutex);
  state_->abandoned = true;
  state_->changed.notify_all();
}

std::int64_t LineStream::invalid() const {
  const std::lock_guard lock(state_->mutex);
  return state_->invalid;
}

std::vector<std::string> LineStream::next(std::size_t most, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds pause{20};  // a writer that pauses this long is waiting for an answer
  State& s = *state_;
  std::vector<std::string> window;
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, stop, [&] { return s.at_end || !s.lines.empty(); });
  while (window.size() < most && s.changed.wait_for(lock, stop, pause, [&] { return s.at_end || !s.lines.empty(); }) &&
         !s.lines.empty()) {
    while (window.size() < most && !s.lines.empty()) {
      window.push_back(std::move(s.lines.front()));
      s.lines.pop_front();
    }
    s.changed.notify_all();
  }
  if (window.empty() && s.error) std::rethrow_exception(s.error);
  return window;
}

}  // namespace tril::cli
