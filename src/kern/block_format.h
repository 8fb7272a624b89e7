// Weights in the blocks of GGUF files, served at their own size: 4.25 to 8.5 bits. A block's values have a common scale:
//   Q4_0, Q5_0, Q8_0, IQ4_NL, MXFP4   32 values    y = d (u - o)
//   Q4_1, Q5_1                        32 values    y = d u + m
//   Q6_K, IQ4_XS                      256 values   y = d s_g (u - o)      in groups g of 16 or 32
//   Q4_K, Q5_K                        256 values   y = d s_g u - e m_g    in groups g of 32
// u is an unsigned number, o the format's constant; d, e, m are floats, s_g and m_g small integers. A row of activations x
// is rounded to 8 bits in blocks of 256: x ~ t q, t = max |x| / 127. With A_g the sum of q in group g, 256 values add
//   t (d sum_g s_g (sum_{i in g} u_i q_i - o A_g) - e sum_g m_g A_g),  or
//   t sum_g (d_g (sum_{i in g} u_i q_i - o A_g) + m_g A_g)  where a group is a block,
// to the product. All sums of integers are exact.
//
// The blocks of 32 rows form a panel, which is as large as they are in the file. A panel has one section for every 256
// values of k (the last may be shorter): the scales of all 32 rows, then for each half of the rows (16) and each group the
// lines of 64 bytes from which a format makes "wide" lines: wide line p of a group has values 4 p ... 4 p + 3 of the group
// for 16 rows, so that one instruction multiplies them by four activations. The lines of each format are described in its file
// (block_q4_k-inl.h and others).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tril::kern {

enum class BlockFormat : std::uint8_t { none, q4_0, q8_0, q4_k, q5_k, q6_k, iq4_xs, mxfp4, q4_1, q5_0, q5_1, iq4_nl };

/// A block of a file.
struct BlockSize {
  std::size_t values = 0, bytes = 0;
};
constexpr BlockSize size_of(BlockFormat format) {
  constexpr std::array<BlockSize, 12> sizes{{{},
                                             {32, 18},
                                             {32, 34},
                                             {256, 144},
                                             {256, 176},
                                             {256, 210},
                                             {256, 136},
                                             {32, 17},
                                             {32, 20},
                                             {32, 22},
                                             {32, 24},
                                             {32, 18}}};
  return sizes[static_cast<std::size_t>(format)];
}
constexpr std::size_t block_row_bytes(std::size_t k, BlockFormat format) {
  return k / size_of(format).values * size_of(format).bytes;
}
/// Bytes of a packed weight [n, k]: whole panels.
constexpr std::size_t block_packed_bytes(std::size_t n, std::size_t k, BlockFormat format) {
  return (n + 31) / 32 * 32 * block_row_bytes(k, format);
}

/// Packs 32 rows of a file's blocks, `rows[j]` [k], into a panel. A null row is zeros.
struct PackBlocks {
  BlockFormat format = BlockFormat::none;
  std::size_t k = 0;
  std::array<const std::uint8_t*, 32> rows = {};
  std::uint8_t* panel = nullptr;  ///< 32 * block_row_bytes(k, format)
};

/// 256 activations of a row, rounded to 8 bits.
constexpr std::size_t block_depth = 256;
struct alignas(64) BlockRow {
  std::int8_t q[block_depth];  ///< padded with zeros
  std::int32_t starts[16];     ///< -o A_g, in the form that the instruction set adds
  std::int32_t pairs[4];       ///< A_2j and A_(2j + 1) in the lower and the upper 16 bits
  float scale;                 ///< NaN if one of the values is not finite
};

constexpr std::size_t block_sections(std::size_t k) {
  return (k + block_depth - 1) / block_depth;
}

/// Rounds rows x [m, k] for products with a format's blocks.
struct RoundBlocks {
  BlockFormat format = BlockFormat::none;
  std::size_t m = 0, k = 0;
  const float* x = nullptr;
  std::size_t stride = 0;
  BlockRow* rows = nullptr;  ///< [block_sections(k), m]
};

/// c [m, 32] = rows times a panel. m is at most block_rows.
struct BlockPanel {
  BlockFormat format = BlockFormat::none;
  std::size_t m = 0, k = 0;
  const BlockRow* rows = nullptr;  ///< [block_sections(k), m]
  const std::uint8_t* panel = nullptr;
  float* c = nullptr;
};
constexpr std::size_t block_rows = 256;

}  // namespace tril::kern
