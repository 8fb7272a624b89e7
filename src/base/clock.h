// A monotonic clock for measuring durations.
#pragma once

#include <chrono>

namespace tril {

/// Seconds since an arbitrary fixed moment; only differences are meaningful.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tril
