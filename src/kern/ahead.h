// Prefetches weights. They come from memory one panel after the other, and each panel is read several times, the
// first time from memory. Every step of the work on a panel prefetches some lines of the next one, so that processor
// and memory never wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

struct Ahead {
  const std::uint8_t* at = nullptr;
  std::size_t lines = 0;  ///< per step

  /// For a panel of `bytes` bytes that is worked through in `steps` steps.
  static Ahead of(const std::uint8_t* panel, std::size_t bytes, std::size_t steps) {
    return {panel, steps > 0 ? (bytes / 64 + steps - 1) / steps : 0};
  }
  [[gnu::always_inline]] void step() {
    for (std::size_t i = 0; i < lines; ++i, at += 64) __builtin_prefetch(at, 0, 2);
  }
};

}  // namespace tril::kern
