// A team of threads that work on one thing in step: run() gives each its number, barrier() makes all wait for the
// slowest. The caller is member 0, so that a team of one is a plain call. Waiting spins for some microseconds, as long
// as a barrier usually takes, and then sleeps, so that an idle member costs nobody a core.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace tril {

class Team {
 public:
  /// @throws Error where the system gives no more threads
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// work(member) on every member at once; returns when all are done. If some throw, the others leave at their next
  /// barrier, and the exception of the lowest-numbered one that failed by itself is thrown here; the team can be used
  /// again.
  void run(const std::function<void(int member)>& work);

  /// Within run(): waits until every member is here. Leaves run() where another member has failed.
  void barrier();

 private:
  struct Left {};  // thrown to members who leave because of another
  void end();
  void serve(int member);
  void take_part(int member);

  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // by member

  std::atomic<std::uint32_t> round_{0};               // counts run() calls: members wait for it to change
  std::atomic<std::uint32_t> busy_{0};                // members that have not finished this round
  std::atomic<std::uint32_t> arrived_{0}, phase_{0};  // of the barrier
  std::atomic<bool> failed_{false}, ending_{false};
};

}  // namespace tril
