// A team of threads that work on one thing. run() gives each its number, and barrier() makes all wait for the slowest;
// share() deals out parts to whoever is there, so that a member whose core other processes have taken is waited for only
// where it has begun a part. The caller is member 0, so that a team of one is a plain call. Waiting spins for some
// microseconds, as long as it usually takes, and then sleeps, so that an idle member costs nobody a core.
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

  /// work(part) for each part in [0, parts), at most size() of them, each on one thread: a member's own number first, then
  /// what nobody has begun. Returns when all are done, and throws the exception of the lowest part that failed. No
  /// barriers within.
  void share(int parts, const std::function<void(int part)>& work);

  /// Within run(): waits until every member is here. Leaves run() where another member has failed.
  void barrier();

 private:
  struct Left {};  // thrown to members who leave because of another
  // Whether a part of a round is to be had: 2 round, or 2 round + 1 where somebody has it. What is left of another round is
  // neither.
  struct alignas(64) Part {
    std::atomic<std::uint32_t> ticket{0};
  };
  void end();
  void serve(int member);
  void take_part(int member);
  void take_parts(int member, std::uint32_t round);
  std::uint32_t next_round(bool shared) const;
  void call_members(std::uint32_t round);
  void wait_for_all();

  std::vector<std::thread> threads_;
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // by member or part
  std::vector<Part> parts_;

  std::atomic<std::uint32_t> round_{0};               // members wait for it to change; odd: of share()
  std::atomic<std::uint32_t> busy_{0};                // members or parts that are not done
  std::atomic<std::uint32_t> arrived_{0}, phase_{0};  // of the barrier
  std::atomic<bool> failed_{false}, ending_{false};
};

}  // namespace tril
