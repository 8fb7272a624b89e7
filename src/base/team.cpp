#include "base/team.h"

#include <system_error>

#include "base/as_size.h"
#include "base/error.h"

namespace tril {
namespace {

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Waits until `value` is no longer `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int spins = 2000;  // some 20 to 50 microseconds
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int size, const Placement& placement) : errors_(as_size(size)), parts_(as_size(size)) {
  try {
    for (int member = 1; member < size; ++member) {
      threads_.emplace_back([this, member, numa = placement.numa] { serve(member, numa); });
      pin_thread(threads_.back(), placement, member);
    }
  } catch (const Error&) {
    end();
    throw;
  } catch (const std::system_error& problem) {
    const int started = this->size();
    end();
    fail("threads", fmt::format("only {} of {} can be started ({})", started, size, problem.what()),
         fmt::format("pass `threads` {} or fewer, or raise the limits (ulimit)", started));
  }
}

Team::~Team() {
  end();
}

// Tells the members to leave and waits for them.
void Team::end() {
  ending_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void Team::serve(int member, Numa numa) {
  const MemoryPlaced memory(numa, MemoryOf::all_threads);
  for (std::uint32_t seen = 0;;) {
    wait_for_change(round_, seen);
    const std::uint32_t now = round_.load(std::memory_order_acquire);
    if (now == seen) continue;  // spurious wake-up
    seen = now;
    if (ending_.load(std::memory_order_relaxed)) return;
    if (now & 1) {
      take_parts(member, now);
    } else {
      take_part(member);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
    }
  }
}

void Team::take_part(int member) {
  try {
    (*work_)(member);
  } catch (const Left&) {
  } catch (...) {
    errors_[as_size(member)] = std::current_exception();
    failed_.store(true, std::memory_order_release);
    phase_.fetch_add(1, std::memory_order_release);  // releases the members that wait at the barrier
    phase_.notify_all();
  }
}

// A member may arrive after its round is over and later rounds have begun. Then no part has a ticket of its round, and
// it reads nothing else before it has taken a ticket.
void Team::take_parts(int member, std::uint32_t round) {
  const int size = this->size();
  for (int i = 0; i < size; ++i) {
    const int part = (member + i) % size;
    std::uint32_t free = 2 * round;
    if (!parts_[as_size(part)].ticket.compare_exchange_strong(free, free + 1, std::memory_order_acq_rel)) continue;
    try {
      (*work_)(part);
    } catch (...) {
      errors_[as_size(part)] = std::current_exception();
    }
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_all();
  }
}

std::uint32_t Team::next_round(bool shared) const {
  return (round_.load(std::memory_order_relaxed) / 2 + 1) * 2 + (shared ? 1 : 0);
}

void Team::call_members(std::uint32_t round) {
  round_.store(round, std::memory_order_release);
  round_.notify_all();
}

void Team::share(int parts, const std::function<void(int)>& work) {
  check(parts <= size(), "team", "{} parts for {} members", parts, size());
  const std::uint32_t round = next_round(true);
  work_ = &work;
  busy_.store(static_cast<std::uint32_t>(parts), std::memory_order_relaxed);
  for (int part = 0; part < parts; ++part) parts_[as_size(part)].ticket.store(2 * round, std::memory_order_release);
  call_members(round);
  take_parts(0, round);
  wait_for_all();
}

void Team::run(const std::function<void(int)>& work) {
  work_ = &work;
  failed_.store(false, std::memory_order_relaxed);
  arrived_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  call_members(next_round(false));
  take_part(0);
  wait_for_all();
}

void Team::wait_for_all() {
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire))
    wait_for_change(busy_, left);

  std::exception_ptr first;
  for (std::exception_ptr& e : errors_) {
    if (e && !first) first = e;
    e = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void Team::barrier() {
  if (threads_.empty()) return;
  const std::uint32_t phase = phase_.load(std::memory_order_acquire);
  // A failure seen after reading the phase may have ended it already; a later one changes it and wakes this thread.
  if (failed_.load(std::memory_order_acquire)) throw Left{};
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_.size()) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.fetch_add(1, std::memory_order_release);
    phase_.notify_all();
  } else {
    while (phase_.load(std::memory_order_acquire) == phase) wait_for_change(phase_, phase);
  }
  if (failed_.load(std::memory_order_acquire)) throw Left{};
}

}  // namespace tril
