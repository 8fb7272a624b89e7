// Weights come from memory, a panel after the other, and each is read several times, the first time from far away. So that
// the processor never waits for one while the memory waits for the processor, every step of the work on a panel asks for some
// lines of the next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tril::kern {

struct Ahead {
  const std::uint8_t* at = nullptr;
  std::size_t lines = 0;  ///< a step

  /// For a panel of so many bytes in so many steps.
  static Ahead of(const std::uint8_t* panel, std::size_t bytes, std::size_t steps) {
    return {panel, steps > 0 ? (bytes / 64 + steps - 1) / steps : 0};
  }
  [[gnu::always_inline]] void step() {
    for (std::size_t i = 0; i < lines; ++i, at += 64) __builtin_prefetch(at, 0, 2);
  }
};

}  // namespace tril::kern
