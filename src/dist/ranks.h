// The processes of one job, started by MPI: each has a rank, and all run the same program. Without mpirun there is
// one, and nothing here has a cost.
//
// Messages go between pairs of ranks (MPI_Isend, MPI_Irecv). Starting and waiting are separate, so that messages travel
// while the ranks compute. One thread makes all MPI calls: it moves messages on meanwhile, and it sends the next rank a
// heartbeat. So a process that has stopped or a machine that is gone is reported by name, and a slow one is not. Sums
// are computed here, in rank order: every rank gets the same bits, whatever the library and the network.
//
// A dead rank ends the job. With User Level Failure Mitigation [Bland et al. 2013], as in Open MPI 5's `mpirun
// --with-ft ulfm`, the other ranks get a RankLost instead and may go on without it (survivors.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace tril::dist {

/// A message to another rank, or expected from it. The memory must stay valid until the message has been waited for.
struct Outgoing {
  int to = 0;
  std::span<const std::byte> bytes;
  int tag = 0;  ///< 0 to 30,000
};
struct Incoming {
  int from = 0;
  std::span<std::byte> bytes;
  int tag = 0;
};

struct RanksOptions {
  /// The longest time without a heartbeat from a rank. A process sends heartbeats during any work, so this is no limit
  /// on the time that work takes.
  std::chrono::milliseconds silence{60'000};
  /// The clock of heartbeats, for tests; empty: the steady clock. The thread that makes MPI calls reads it.
  std::function<std::chrono::steady_clock::time_point()> now;
};

/// Ranks have died, and the others can go on (Ranks::shrink). Every rank gets this from any call that waits; no
/// message arrives before shrink().
class RankLost : public Error {
 public:
  explicit RankLost(const std::string& names)
      : Error(ErrorKind::failure, names, "lost: killed, or its machine is down",
              "run the same command again: it resumes from the last checkpoint, with any number of ranks") {}
};

class Courier;
struct Transfer;

class Ranks {
 public:
  /// The ranks of the job in which mpirun (or srun) started this process; without a launcher, a job of one.
  /// @throws Error if MPI cannot start
  static std::shared_ptr<Ranks> join(const RanksOptions& options = {});
  /// A job of this process only.
  static std::shared_ptr<Ranks> alone();

  /// Leaves the job as leave() does, but tells no error; after an error, leaves at once.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }
  /// The number of ranks at the start, including lost ones.
  int started() const { return started_; }
  /// The number of ranks on this machine that may run on the same processors as this one, with itself: 1 if the launcher has
  /// given each its own.
  int sharers() const;
  /// How many of them come before this one, by their numbers.
  int sharers_before() const;
  /// The number of threads for this rank: the cores that it may use, divided among the ranks that may use the same.
  int share_of_cores() const;
  /// "rank 3 (node17)", by the number that its launcher has given it.
  std::string name_of(int rank) const;

  /// True if RankLost is possible.
  bool outlives_ranks() const { return courier_ && outlives_; }
  /// After a RankLost: goes on with the surviving ranks, renumbered in their old order. All of them call it once, after
  /// they have abandoned their current work. Returns the names of the lost ranks, "rank 3 (node17), rank 4 (node17)".
  std::string shrink();

  /// Messages under way.
  using Ticket = std::shared_ptr<Transfer>;

  /// Starts messages, from any thread. Messages between one pair of ranks with one tag arrive in the order in
  /// which they were started; both sides must agree on the sizes.
  Ticket start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming);
  /// Returns when all messages are through. @throws Error that names the silent rank, RankLost
  void wait(const Ticket& ticket);

  /// The data of every rank, by rank; all ranks must call it, in the same order.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  std::vector<std::string> all_gather(const std::string& mine);
  /// The sum of the ranks' vectors, which have equal length, in rank order.
  void all_reduce(std::span<double> values);
  /// Rank 0's text, in every rank.
  std::string broadcast(const std::string& text);
  /// Returns when every rank has called it.
  void barrier();
  /// Runs `work` in every rank. If it fails in some, every rank throws: its own error, or one with the name and
  /// the message of the first rank that failed. No rank returns before all are done.
  void together(const std::function<void()>& work);

  /// The same for work of rank 0 only, while the others wait for it.
  void by_first(const std::function<void()>& work);

  /// The end of the job, when all work is done: waits until every rank has called it. No other call may follow.
  /// @throws Error that names the silent rank
  void leave();

  /// For a rank that fails while messages are under way: drops them at once, so that their memory can be freed.
  /// Nothing arrives afterwards; the job ends when this process ends. After a RankLost no message is under way,
  /// and this does nothing.
  void abandon();

 private:
  Ranks() = default;
  std::string names_of(std::span<const int> ranks) const;

  int rank_ = 0, size_ = 1, started_ = 1;
  std::vector<int> numbers_{0};          // by rank: its number at the start
  std::vector<std::string> hosts_{""};   // by rank; "": unknown
  std::vector<std::string> places_{""};  // by rank: its host and the processors on which it may run
  std::unique_ptr<Courier> courier_;     // null in a job of one rank
  bool outlives_ = false, lost_some_ = false;
  std::chrono::milliseconds silence_{};
};

}  // namespace tril::dist
