// The processes of one job, which MPI has started: each has a rank, and all run the same program. Without mpirun there is
// one, and nothing here costs anything.
//
// Messages go between pairs of ranks (MPI_Isend, MPI_Irecv) and are waited for apart from where they are started, so that
// they travel while something else is computed. A thread of its own makes all calls of MPI: it moves messages on while the
// others compute, and it sends the next rank a sign of life, so that a process that has stopped or a machine that is gone is
// told by name, and one that merely takes long is not. What is added up is added up here, in the ranks' order: the same
// bits in every rank, whatever the library and the network.
//
// A rank that dies ends the job. Where library and launcher have User Level Failure Mitigation [Bland et al. 2013], as Open
// MPI 5's `mpirun --with-ft ulfm`, the others get a RankLost instead and may go on without it (survivors.h).
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

/// What one rank gives another, or waits for from it. The memory belongs to the message until it is waited for.
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
  /// How long a rank may give no sign of life. It gives one whenever it runs at all, so this is no limit on its work.
  std::chrono::milliseconds silence{60'000};
};

/// Ranks have died, and those that are left can go on (Ranks::shrink). Every rank gets it, from whatever it waits for:
/// nothing comes through before shrink().
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
  /// The ranks of the job that mpirun (or srun) has started this process in; a job of one where none has.
  /// @throws Error where MPI cannot start
  static std::shared_ptr<Ranks> join(const RanksOptions& options = {});
  /// A job of this process alone.
  static std::shared_ptr<Ranks> alone();

  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool first() const { return rank_ == 0; }
  /// How many were started; some may be lost since.
  int started() const { return started_; }
  /// How many ranks are on this machine.
  int neighbours() const;
  /// The number of threads for this rank: its machine's cores, divided among its neighbours unless the launcher has
  /// assigned cores already.
  int share_of_cores() const;
  /// "rank 3 (node17)", by the number that its launcher has given it.
  std::string name_of(int rank) const;

  /// Whether RankLost can come.
  bool outlives_ranks() const { return courier_ && outlives_; }
  /// After a RankLost: goes on with the ranks that are left, numbered anew in their old order; all of them call it once
  /// they have let go of what they did. Returns the names of who was lost, "rank 3 (node17), rank 4 (node17)".
  std::string shrink();

  /// Messages that are on their way.
  using Ticket = std::shared_ptr<Transfer>;

  /// Starts messages, from any thread. Those of one pair of ranks and one tag arrive in the order in which they are started;
  /// sizes are to agree on both sides.
  Ticket start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming);
  /// Returns when all of them are through. @throws Error that names the rank that is silent, RankLost
  void wait(const Ticket& ticket);

  /// What every rank gives, by rank; all must call it, in the same order.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  std::vector<std::string> all_gather(const std::string& mine);
  /// The sum over the ranks, in their order, of vectors of one length.
  void all_reduce(std::span<double> values);
  /// What rank 0 has.
  std::string broadcast(const std::string& text);
  /// Returns when every rank is here.
  void barrier();
  /// Runs `work` in every rank; where it fails in some, all of them throw: their own error, or one that names the first rank
  /// that failed and its words. Nobody goes on before all are done.
  void together(const std::function<void()>& work);

  /// The same of work that is the first rank's alone, while the others wait for it.
  void by_first(const std::function<void()>& work);

  /// For whoever fails while messages are on their way: they are dropped at once, so that their memory can be let go of.
  /// Nothing else comes through afterwards; the job ends when this process ends. After a RankLost nothing is on its way,
  /// and nothing is done.
  void abandon();

 private:
  Ranks() = default;
  std::string names_of(std::span<const int> ranks) const;

  int rank_ = 0, size_ = 1, started_ = 1;
  std::vector<int> numbers_{0};         // by rank: its number at the start
  std::vector<std::string> hosts_{""};  // by rank; "": not known
  std::unique_ptr<Courier> courier_;    // none where one rank was started
  bool outlives_ = false, lost_some_ = false;
  std::chrono::milliseconds silence_{};
};

}  // namespace tril::dist
