// Work without the interpreter's lock. It runs on a thread of its own, which blocks all signals: a handler of Python's must not
// run on a thread that computes (cli/io/blocked_signals.h says why). The caller waits, obeys Ctrl-C and passes on messages.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace tril::python {

class Background {
 public:
  using Work = std::function<void(std::stop_token stop)>;

  Background();
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Does the work and waits for it; the caller holds the interpreter's lock, which others may have meanwhile. An exception of a
  /// signal handler (KeyboardInterrupt) stops the work and is raised when the work has ended.
  /// @param also       also stops the work
  /// @param meanwhile  called now and then, with the interpreter's lock; an exception of it stops the work like a signal handler's
  /// @throws what the work throws
  void run(Work work, const std::stop_token& also = {}, const std::function<void()>& meanwhile = {});

  /// Begins the work without waiting. Only one piece of work at a time.
  void begin(Work work);
  /// Requests the work to end.
  void stop();
  /// Whether it has ended. Does not throw what it threw.
  bool is_idle();
  /// Waits until the work has ended or `moment` has passed. @return whether it has ended
  bool wait(std::chrono::milliseconds moment);
  /// Throws what the work has thrown, once.
  void rethrow();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_;  ///< the work that waits or runs
  std::stop_source stop_;
  std::exception_ptr error_;
  bool busy_ = false, ending_ = false;
  std::thread thread_;  ///< last: begins when all else is there
};

/// Runs the interpreter's signal handlers and passes on messages; call it with the interpreter's lock.
/// @throws nb::python_error if a handler raises an exception
void obey_signals();

}  // namespace tril::python
