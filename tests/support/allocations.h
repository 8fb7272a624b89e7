// Counts the memory from operator new in this program, for tests that limit memory: replaces the global operator new
// and delete in all of test_model.
#pragma once

#include <cstddef>

namespace tril::testing {

/// Measures from its construction on: all threads, everything that goes through operator new (not malloc, not mmap).
class AllocationMeter {
 public:
  AllocationMeter();
  std::size_t peak_bytes() const;     ///< most bytes live at one time, beyond those at the start
  std::size_t largest_bytes() const;  ///< largest single allocation
  std::size_t count() const;          ///< number of allocations

 private:
  std::size_t live_at_start_, count_at_start_;
};

}  // namespace tril::testing
