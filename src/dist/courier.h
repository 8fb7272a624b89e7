// Who carries messages between ranks. Ranks knows no more of MPI than this; mpi_courier.cpp is the one implementation, and
// no_courier.cpp stands in its place where tril is built without MPI.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "dist/ranks.h"

namespace tril::dist {

constexpr int small_tag = 30'001;  ///< of all_gather(); those above it are the courier's own

/// Messages of one start(), until they are done.
struct Transfer {
  virtual ~Transfer() = default;
};

/// 0, 1, ..., size - 1
inline std::vector<int> numbers_to(int size) {
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class Courier {
 public:
  /// What became of a transfer: done where both are nothing.
  struct Outcome {
    std::optional<int> silent;                  ///< a rank that gives no sign of life
    std::optional<std::vector<int>> left = {};  ///< ranks have died, these are left
  };
  struct Survivors {
    int rank = 0;           ///< this one's, among those that are left
    std::vector<int> left;  ///< by rank: the number before the loss
  };

  virtual ~Courier() = default;
  virtual Ranks::Ticket submit(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  /// @throws Error where messages cannot be moved any more
  virtual Outcome wait(const Ranks::Ticket& ticket) = 0;
  /// After a loss: goes on with those that are left.
  virtual Survivors resume() = 0;
  /// Drops what is on its way.
  virtual void abandon() = 0;
  /// From here on a rank that leaves has finished.
  virtual void expect_the_end() = 0;
  /// Whether nothing is carried any more, after an error or a loss.
  virtual bool ended() = 0;
  /// The last call. @param clean  all ranks have come to their end without an error
  virtual void finish(bool clean, bool lost_some) = 0;
};

/// The job that a launcher has started this process in.
struct World {
  int rank = 0, size = 1;
  bool outlives_ranks = false;  ///< the others may go on when a rank dies
  std::unique_ptr<Courier> courier;
};

/// @throws Error where MPI cannot start, or is not there
World join_world(const RanksOptions& options);

}  // namespace tril::dist
