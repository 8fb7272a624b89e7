#include "background.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "messages.h"

namespace tril::python {

namespace nb = nanobind;

namespace {

constexpr std::chrono::milliseconds between_signals(50);

}  // namespace

void obey_signals() {
  pass_on_messages();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Background::Background() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all,
                  &before);  // the new thread inherits the mask, and its threads inherit it from there
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    stop_.request_stop();
  }
  changed_.notify_all();
  thread_.join();
}

void Background::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || busy_; });
    if (!busy_) return;
    const std::stop_token stop = stop_.get_token();
    const Work work = std::move(work_);
    lock.unlock();
    std::exception_ptr error;
    try {
      work(stop);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    busy_ = false;
    changed_.notify_all();
  }
}

void Background::begin(Work work) {
  {
    const std::lock_guard lock(mutex_);
    check(!busy_, "tril", "this object is in use by another thread");
    stop_ = std::stop_source();
    error_ = nullptr;
    work_ = std::move(work);
    busy_ = true;
  }
  changed_.notify_all();
}

void Background::stop() {
  const std::lock_guard lock(mutex_);
  stop_.request_stop();
}

bool Background::is_idle() {
  const std::lock_guard lock(mutex_);
  return !busy_;
}

bool Background::wait(std::chrono::milliseconds moment) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, moment, [&] { return !busy_; });
}

void Background::rethrow() {
  std::unique_lock lock(mutex_);
  if (const std::exception_ptr error = std::exchange(error_, nullptr)) {
    lock.unlock();
    std::rethrow_exception(error);
  }
}

void Background::run(Work work, const std::stop_token& also, const std::function<void()>& meanwhile) {
  begin(std::move(work));
  std::exception_ptr interrupt;
  {
    const std::stop_callback stopped(also, [this] { stop(); });
    for (;;) {
      bool done = false;
      {
        const nb::gil_scoped_release others;
        done = wait(between_signals);
      }
      if (done) break;
      if (interrupt) continue;
      try {
        obey_signals();
        if (meanwhile) meanwhile();
      } catch (...) {
        interrupt = std::current_exception();
        stop();
      }
    }
  }
  pass_on_messages();
  if (interrupt) std::rethrow_exception(interrupt);
  rethrow();
}

}  // namespace tril::python
