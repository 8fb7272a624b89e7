// Prefetches weights. Panels, or sections of a panel, are processed one after another. Each is read several times, the first time
// from memory. So every step of the work on one prefetches some lines of the next, and processor and memory need not wait for each
// other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

struct Ahead {
  const std::uint8_t* at = nullptr;
  std::size_t lines = 0;  ///< per step

  /// Prefetches `bytes` bytes at `next` while the data before them is processed in `steps` steps.
  static Ahead of(const std::uint8_t* next, std::size_t bytes, std::size_t steps) {
    return {next, steps > 0 ? (bytes / 64 + steps - 1) / steps : 0};
  }
  /// Into the second-level cache, which has room for a panel.
  [[gnu::always_inline]] void step() { fetch<2>(); }
  /// Into the first-level cache, for a section.
  [[gnu::always_inline]] void step_near() { fetch<3>(); }

 private:
  template <int kLocality>
  [[gnu::always_inline]] void fetch() {
    for (std::size_t i = 0; i < lines; ++i, at += 64) __builtin_prefetch(at, 0, kLocality);
  }
};

}  // namespace tril::kern
