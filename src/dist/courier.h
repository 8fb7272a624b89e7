// Carries messages between ranks. Ranks knows of MPI only through this interface. mpi_courier.cpp implements it;
// no_courier.cpp replaces that file if tril is built without MPI.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "base/as_size.h"
#include "dist/ranks.h"

namespace tril::dist {

constexpr int small_tag = 30'001;  ///< the tag of all_gather(); tags above it are internal to the courier

/// The messages of one start(), until they are done.
struct Transfer {
  virtual ~Transfer() = default;
};

/// 0, 1, ..., size - 1
inline std::vector<int> numbers_to(int size) {
  std::vector<int> numbers(as_size(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class Courier {
 public:
  /// The result of a transfer: done if both are empty.
  struct Outcome {
    std::optional<int> silent;                  ///< a rank that no longer responds
    std::optional<std::vector<int>> left = {};  ///< ranks have died, these are left
  };
  struct Survivors {
    int rank = 0;           ///< this rank's number among the survivors
    std::vector<int> left;  ///< by new rank: the number before the loss
  };

  virtual ~Courier() = default;
  virtual Ranks::Ticket submit(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  /// @throws Error if messages can no longer be moved
  virtual Outcome wait(const Ranks::Ticket& ticket) = 0;
  /// After a loss: goes on with the survivors.
  virtual Survivors resume() = 0;
  /// Drops all messages under way.
  virtual void abandon() = 0;
  /// From now on, a rank that leaves has finished normally.
  virtual void expect_the_end() = 0;
  /// True if no more messages are carried, after an error or a loss.
  virtual bool ended() = 0;
  /// The last call. @param clean  all ranks have ended without an error
  virtual void finish(bool clean, bool lost_some) = 0;
};

/// The job in which a launcher has started this process.
struct World {
  int rank = 0, size = 1;
  bool outlives_ranks = false;  ///< the other ranks may go on when one dies
  std::unique_ptr<Courier> courier;
};

/// @throws Error if MPI cannot start, or is not built in
World join_world(const RanksOptions& options);

}  // namespace tril::dist
