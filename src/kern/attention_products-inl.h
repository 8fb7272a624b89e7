// Packing and products of tiles of AMX for attention in bfloat16 (attention_bf16.cpp, cached_attention_bf16.cpp). Included once for each
// instruction set; empty except for AVX-512.
#if defined(TRIL_KERN_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_ATTENTION_PRODUCTS_INL_H_
#undef TRIL_KERN_ATTENTION_PRODUCTS_INL_H_
#else
#define TRIL_KERN_ATTENTION_PRODUCTS_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/math-inl.h"
#include "kern/simd.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

using Tiles = TileProducts;

// Packing of only those tiles that the products read.

/// x [rows, k] as a left operand
HWY_INLINE void pack_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t k, std::uint16_t* packed) {
  for (std::size_t i = 0; i < rows; i += 16)
    for (std::size_t l = 0; l < k; l += 32, packed += tile_values)
      Tiles::pack_tile(x + i * stride + l, stride, smaller(16, rows - i), smaller(32, k - l), packed);
}

/// x [rows, k] as a right operand [k, rows]
HWY_INLINE void pack_across(const float* x, std::size_t stride, std::size_t rows, std::size_t k,
                            std::uint16_t* packed) {
  const std::size_t depth = tiles_of(k, 32);
  for (std::size_t i = 0; i < rows; i += 16)
    for (std::size_t l = 0; l < depth; ++l) {
      std::uint16_t* const tile = packed + ((i / 32 * depth + l) * 2 + i / 16 % 2) * tile_values;
      Tiles::pack_tile(x + i * stride + l * 32, stride, smaller(16, rows - i), smaller(32, k - l * 32), tile);
      Tiles::transpose_tile(tile);
    }
}

/// x [k, n] as a right operand
HWY_INLINE void pack_down(const float* x, std::size_t stride, std::size_t k, std::size_t n, std::uint16_t* packed) {
  const std::size_t depth = tiles_of(k, 32);
  for (std::size_t j = 0; j < n; j += 16)
    for (std::size_t l = 0; l < depth; ++l)
      Tiles::pack_pairs(x + l * 32 * stride + j, stride, smaller(32, k - l * 32), smaller(16, n - j),
                        packed + ((j / 32 * depth + l) * 2 + j / 16 % 2) * tile_values);
}

/// x [k, n], k <= 32, as a left operand [n, k]
HWY_INLINE void pack_turned(const float* x, std::size_t stride, std::size_t k, std::size_t n, std::uint16_t* packed) {
  for (std::size_t j = 0; j < n; j += 16, packed += tile_values) {
    Tiles::pack_pairs(x + j, stride, k, smaller(16, n - j), packed);
    Tiles::transpose_tile(packed);
  }
}

/// The product of a strip [rows, n], 32 columns at a time; the right operand's panels are `panel` tiles deep.
/// finish(column, columns) is called with the sums in `product` [32, 32].
template <class Finish>
HWY_INLINE void by_columns(const std::uint16_t* left, std::size_t row_tiles, const std::uint16_t* right,
                           std::size_t panel, std::size_t depth, std::size_t rows, std::size_t n, float* product,
                           const Finish& finish) {
  for (std::size_t c = 0; c < n; c += 32) {
    const std::size_t columns = smaller(32, n - c);
    Tiles::product(left, row_tiles, right + c / 32 * panel * 2 * tile_values, depth, rows, columns,
                   {nullptr, 0, product, 32});
    finish(c, columns);
  }
}

}  // namespace
}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // TRIL_KERN_ATTENTION_PRODUCTS_INL_H_
