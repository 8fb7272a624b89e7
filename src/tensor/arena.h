// Memory for the tensors of a computation. One range of addresses is reserved; blocks are cut from it, return to it
// when the last tensor releases them, and merge with free neighbours. A training step or a decode step asks for the
// same sizes as the one before, so after the first few steps the arena asks the system for nothing more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/storage.h"

namespace tril {

class Arena {
 public:
  /// @param limit_bytes  the most that the arena may ever hold; 0: twice the machine's memory. Only addresses are
  /// reserved: memory is taken when it is first touched.
  explicit Arena(std::size_t limit_bytes = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of `bytes`, aligned to 64, uninitialised. Any thread may call this, and any may release the result;
  /// tensors may outlive the arena. @throws Error if the limit is reached
  Storage* allocate(std::size_t bytes);

  struct Stats {
    std::size_t live_bytes = 0;  ///< in blocks that tensors hold
    std::size_t peak_bytes = 0;  ///< the highest value of live_bytes so far
    std::size_t high_water = 0;  ///< bytes of the range ever used: the arena's real memory
    std::uint64_t growths = 0;   ///< number of times that high_water rose; constant in a steady state
    std::uint64_t live_blocks = 0;
  };
  Stats stats() const;
  void reset_peak();

 private:
  struct Pool;
  Pool* pool_;
};

}  // namespace tril
