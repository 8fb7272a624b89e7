// Memory for the tensors of a computation. One range of addresses is reserved; blocks are cut from it, go back to it
// when the last tensor lets go of them, and grow together again with their free neighbours. A training step or a
// decoding step asks for the same sizes as the one before, so that after the first few steps nothing more is asked of
// the system.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/storage.h"

namespace tril {

class Arena {
 public:
  /// @param limit_bytes  the most that the arena may ever hold; 0: twice the machine's memory. Addresses only: memory
  ///                     is taken as it is first touched.
  explicit Arena(std::size_t limit_bytes = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of `bytes`, aligned to 64, uninitialised. Safe to call, and its result to let go, on any thread; tensors
  /// may outlive the arena. Throws Error when the limit is reached.
  Storage* allocate(std::size_t bytes);

  struct Stats {
    std::size_t live_bytes = 0;  ///< in blocks that tensors hold
    std::size_t peak_bytes = 0;  ///< the most that was ever live
    std::size_t high_water = 0;  ///< bytes of the range ever used: what the arena costs the machine
    std::uint64_t growths = 0;   ///< times that high_water rose: stands still in a steady step
    std::uint64_t live_blocks = 0;
  };
  Stats stats() const;
  void reset_peak();

 private:
  struct Pool;
  Pool* pool_;
};

}  // namespace tril
