// A team of threads that work on one task. run() gives each thread its number, and barrier() makes all wait for the
// slowest. share() gives parts to the members that are ready: a member that other processes keep from running delays
// the team only if it has begun a part. The caller is member 0, so a team of one is a plain call. Waiting first spins
// for some microseconds, the usual waiting time, and then sleeps, so that an idle member uses no core.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/placement.h"

namespace tril {

class Team {
 public:
  /// The threads run where `placement` puts them. The caller, which is member 0, pins itself (PinnedThread).
  /// @throws Error if the system gives no more threads
  explicit Team(int size, const Placement& placement = {});
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(member) on every member at once; returns when all are done. If some throw, the others leave at
  /// their next barrier, and the exception of the lowest-numbered member that failed by itself is rethrown here.
  /// The team can be used again.
  void run(const std::function<void(int member)>& work);

  /// Calls work(part) for each part in [0, parts), at most size() parts, each on one thread: a member takes the
  /// part of its own number first, then parts that nobody has begun. Returns when all are done, and rethrows the
  /// exception of the lowest part that failed. `work` must not call barrier().
  void share(int parts, const std::function<void(int part)>& work);

  /// Within run(): waits until every member is here. Leaves run() if another member has failed.
  void barrier();

 private:
  struct Left {};  // thrown in members that leave because another one failed
  // The ticket of a part in a round: 2 round if it is free, 2 round + 1 if a member has taken it. Tickets left
  // from another round are neither.
  struct alignas(64) Part {
    std::atomic<std::uint32_t> ticket{0};
  };
  void end();
  void serve(int member, Numa numa);
  void take_part(int member);
  void take_parts(int member, std::uint32_t round);
  std::uint32_t next_round(bool shared) const;
  void call_members(std::uint32_t round);
  void wait_for_all();

  std::vector<std::thread> threads_;
  std::vector<std::exception_ptr> errors_;  // by member or part
  std::vector<Part> parts_;

  // What the caller writes once for each round is in one cache line, what members write in others: those that wait for
  // one are not disturbed by those that write another.
  alignas(64) const std::function<void(int)>* work_ = nullptr;
  std::atomic<std::uint32_t> round_{0};  // members wait for it to change; odd: a round of share()
  std::atomic<bool> ending_{false};
  alignas(64) std::atomic<std::uint32_t> busy_{0};     // members or parts that are not done
  alignas(64) std::atomic<std::uint32_t> arrived_{0};  // at the barrier
  alignas(64) std::atomic<std::uint32_t> phase_{0};    // of the barrier
  std::atomic<bool> failed_{false};
};

}  // namespace tril
