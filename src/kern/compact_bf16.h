// Packed right operands (gemm_bf16.h) in three quarters of their size, without loss: for weights that are only read, as in inference,
// where a product of few rows is bound by reading them from memory. The lower byte of a bfloat16, which holds the mantissa and the
// last bit of the exponent, is nearly random. The upper byte, which holds the sign and the rest of the exponent, has few values in a
// trained matrix [Zhang et al. 2025, "70% size, 100% accuracy", section 2], rarely more than 16 in a tile. So a tile has a table of
// 16 upper bytes, and each value a code of 4 bits and its lower byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tril::kern {

// Tiles are those of the packed operand, in the same order. The 16 rows of a tile, of 32 values each, form four groups of four rows,
// and a group takes 192 bytes:
//   64 bytes   codes: in the lower halves of the bytes those of rows 0 and 1, in the upper halves those of rows 2 and 3
//   64 bytes   lower bytes of rows 0 and 1
//   64 bytes   lower bytes of rows 2 and 3
// Within 64 bytes, byte 16 b + i (i < 8, b < 4) belongs to value 8 b + i of the first row, and byte 16 b + 8 + i to the same value of
// the second. So two instructions interleave lower and upper bytes into both rows, for any length of vectors.
//
// A tile with more than 16 upper bytes stays whole: its first 768 bytes are in the place of the tile, and its last 256 in `rest`, which
// tiles with a table leave unused. Its table has only bytes of 255.
constexpr std::size_t compact_tile_bytes = 768, compact_table_bytes = 16, compact_rest_bytes = 256;

/// A compact operand [k, n]. Panels of 32 columns are contiguous in each part.
struct CompactRight {
  const std::uint8_t* tiles = nullptr;   ///< [tiles][compact_tile_bytes]
  const std::uint8_t* tables = nullptr;  ///< [tiles][compact_table_bytes]
  const std::uint8_t* rest = nullptr;    ///< [tiles][compact_rest_bytes]

  explicit operator bool() const { return tiles != nullptr; }
  /// Without the first tiles.
  CompactRight from_tile(std::size_t tile) const {
    return {tiles + tile * compact_tile_bytes, tables + tile * compact_table_bytes, rest + tile * compact_rest_bytes};
  }
  /// True if the first tile is whole.
  bool is_whole() const { return tables[0] == 255 && tables[1] == 255; }
  /// Copies the first tile, which is whole.
  void copy_whole(std::uint16_t* to) const {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
    std::memcpy(bytes, tiles, compact_tile_bytes);
    std::memcpy(bytes + compact_tile_bytes, rest, compact_rest_bytes);
  }
  /// Prefetches two tiles at some distance from the first two.
  void fetch() const {
    constexpr std::size_t ahead = std::size_t{16} * compact_tile_bytes;
    for (std::size_t line = 0; line < 2 * compact_tile_bytes; line += 64)
      __builtin_prefetch(tiles + ahead + line, 0, 2);
  }
};
// Its functions are outside of Highway's namespaces, because functions of every instruction set inline them.

/// The number of tiles of a compact operand [k, n].
constexpr std::size_t compact_tiles(std::size_t k, std::size_t n) {
  return (n + 31) / 32 * 2 * ((k + 31) / 32);
}

/// B [k, n], stored as float32 [n, k] with a stride, to be rounded to bfloat16 and packed.
struct PackCompact {
  const float* b = nullptr;
  std::size_t stride = 0, k = 0, n = 0;
  std::uint8_t *tiles = nullptr, *tables = nullptr, *rest = nullptr;  ///< as in CompactRight
};

}  // namespace tril::kern
