// Shared by the files of GGUF's block types: halves of any alignment, and a loop over blocks.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/half.h"
#include "format/gguf.h"

namespace tril::kern::gguf {

using u8 = std::uint8_t;
using Half = std::array<u8, 2>;  ///< an f16, any alignment

inline std::uint16_t bits(Half h) {
  return static_cast<std::uint16_t>(h[0] | h[1] << 8);
}

inline float value(Half h) {
  return f16_to_f32(bits(h));
}

inline Half half(float x) {
  const std::uint16_t h = f32_to_f16(x);
  return {static_cast<u8>(h), static_cast<u8>(h >> 8)};
}

/// The values of blocks, each of which writes its own with Block::to(float*).
template <class Block>
void dequantize(GgufType type, const std::byte* blocks, std::size_t values, float* y) {
  static_assert(alignof(Block) == 1);
  assert(sizeof(Block) == bytes_of_block(type));
  const std::size_t n = values_of_block(type);
  for (std::size_t i = 0; i < values / n; ++i) {
    Block b;
    std::memcpy(&b, blocks + i * sizeof b, sizeof b);
    b.to(y + i * n);
  }
}

}  // namespace tril::kern::gguf
