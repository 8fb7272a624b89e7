// Time that only goes forward, for how long something takes.
#pragma once

#include <chrono>

namespace tril {

/// Seconds since some fixed moment; only differences mean something.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tril
