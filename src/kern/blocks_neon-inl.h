// ARM's products of small matrices, of 8-bit integers (i8mm) and of bfloat16: one instruction adds the product of
// 2 rows and 2 columns, 8 bytes deep, to 2 x 2 sums. Tiles of both types have the same layout in bytes (gemm_int8.h,
// gemm_bf16.h), so both share their loops. Included once for each instruction set; empty except for NEON.
#if defined(TRIL_KERN_BLOCKS_NEON_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BLOCKS_NEON_INL_H_
#undef TRIL_KERN_BLOCKS_NEON_INL_H_
#else
#define TRIL_KERN_BLOCKS_NEON_INL_H_
#endif

#include "hwy/highway.h"
#include "kern/simd.h"

#if TRIL_ARM_PRODUCTS
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kern/bf16-inl.h"
#include "kern/int8-inl.h"

// Not an attribute of each function: after one, GCC 12 compiles the functions that follow, with a target of Highway's,
// for these instructions too.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+i8mm+bf16")
namespace tril::kern::HWY_NAMESPACE {

/// Sums of 8-bit integers. A register holds those of two rows and two columns.
struct IntBlocks {
  using Lane = std::int32_t;
  using Sums = int32x4_t;
  [[gnu::always_inline]] static Sums zero() { return vdupq_n_s32(0); }
  [[gnu::always_inline]] static Sums load(const Lane* p) { return vld1q_s32(p); }
  [[gnu::always_inline]] static void store(Sums v, Lane* p) { vst1q_s32(p, v); }
  /// The lower or upper halves of both, which are 64 bits each.
  [[gnu::always_inline]] static Sums lower(Sums a, Sums b) {
    return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
  }
  [[gnu::always_inline]] static Sums upper(Sums a, Sums b) {
    return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
  }
  [[gnu::always_inline]] static Sums add(Sums sum, uint8x16_t rows, uint8x16_t columns) {
    return vmmlaq_s32(sum, vreinterpretq_s8_u8(rows), vreinterpretq_s8_u8(columns));
  }
};

/// The same of bfloat16.
struct FloatBlocks {
  using Lane = float;
  using Sums = float32x4_t;
  [[gnu::always_inline]] static Sums zero() { return vdupq_n_f32(0); }
  [[gnu::always_inline]] static Sums load(const Lane* p) { return vld1q_f32(p); }
  [[gnu::always_inline]] static void store(Sums v, Lane* p) { vst1q_f32(p, v); }
  [[gnu::always_inline]] static Sums lower(Sums a, Sums b) {
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  [[gnu::always_inline]] static Sums upper(Sums a, Sums b) {
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  [[gnu::always_inline]] static Sums add(Sums sum, uint8x16_t rows, uint8x16_t columns) {
    return vbfmmlaq_f32(sum, vreinterpretq_bf16_u8(rows), vreinterpretq_bf16_u8(columns));
  }
};

/// Up to 8 rows times a panel of 32 columns.
template <class Blocks>
struct RowsByPanel {
  using Lane = typename Blocks::Lane;
  const std::uint8_t* a;
  std::size_t a_row, a_tile;  ///< bytes from row to row, and from tile to tile of a row
  std::size_t rows;           ///< 1 ... 8
  const std::uint8_t* b;      ///< `deep` pairs of tiles
  std::size_t deep;
  const Lane* from;  ///< sums to begin with; null: zero
  std::size_t from_stride;
  Lane* to;  ///< if the number of rows is odd, the row after the last one is written too
  std::size_t to_stride;

  /// 8 to 16 of the 32 registers hold sums.
  void multiply() const {
    if (rows <= 2) return columns<1, 8>();
    if (rows <= 4) return columns<2, 4>();
    if (rows <= 6) return columns<3, 2>();
    columns<4, 2>();
  }

 private:
  template <std::size_t kPairs, std::size_t kVecs>
  void columns() const {
    for (std::size_t v = 0; v < 8; v += kVecs) strip<kPairs, kVecs>(v);
  }

  /// kPairs pairs of rows by the kVecs vectors of four columns from vector `first` of the panel's 8.
  template <std::size_t kPairs, std::size_t kVecs>
  void strip(std::size_t first) const {
    typename Blocks::Sums sum[kPairs][kVecs][2];
    const std::uint8_t* at[2 * kPairs];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 2 * kPairs; ++i) at[i] = a + existing(i) * a_row;
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kPairs; ++r)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVecs; ++v) {
        sum[r][v][0] = sum[r][v][1] = Blocks::zero();
        if (!from) continue;
        const auto one = Blocks::load(from + existing(2 * r) * from_stride + (first + v) * 4);
        const auto other = Blocks::load(from + existing(2 * r + 1) * from_stride + (first + v) * 4);
        sum[r][v][0] = Blocks::lower(one, other), sum[r][v][1] = Blocks::upper(one, other);
      }
    for (std::size_t l = 0; l < deep; ++l)
      for (std::size_t p = 0; p < 16; p += 2) {
        uint8x16_t x[kPairs];
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kPairs; ++r)
          x[r] = vcombine_u8(vld1_u8(at[2 * r] + l * a_tile + p * 4), vld1_u8(at[2 * r + 1] + l * a_tile + p * 4));
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVecs; ++v) {
          const std::size_t tile = l * 2 + (first + v) / 4, column = (first + v) % 4;
          const std::uint8_t* const w = b + tile * int8_tile_bytes + p * 64 + column * 16;
          const uint32x4_t w0 = vreinterpretq_u32_u8(vld1q_u8(w)), w1 = vreinterpretq_u32_u8(vld1q_u8(w + 64));
          const uint8x16_t left = vreinterpretq_u8_u32(vzip1q_u32(w0, w1));
          const uint8x16_t right = vreinterpretq_u8_u32(vzip2q_u32(w0, w1));
#pragma GCC unroll 8
          for (std::size_t r = 0; r < kPairs; ++r) {
            sum[r][v][0] = Blocks::add(sum[r][v][0], x[r], left);
            sum[r][v][1] = Blocks::add(sum[r][v][1], x[r], right);
          }
        }
      }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kPairs; ++r)
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVecs; ++v) {
        Lane* const c = to + 2 * r * to_stride + (first + v) * 4;
        Blocks::store(Blocks::lower(sum[r][v][0], sum[r][v][1]), c);
        Blocks::store(Blocks::upper(sum[r][v][0], sum[r][v][1]), c + to_stride);
      }
  }

  /// The second row of a pair may not exist: the first one is read twice.
  [[gnu::always_inline]] std::size_t existing(std::size_t row) const {
    return row < rows ? row : rows - 1;
  }
};

/// Products of 8-bit integers in blocks.
struct BlockProducts {
  static constexpr const BlockKernels& blocks = kBlocksInFours;
  using FewOfFourBits = NoFourBitProducts;
  static constexpr std::size_t row_bytes(std::size_t depth) { return depth; }
  static void begin(std::size_t) {}
  static void end() {}
  static void prepare(std::int8_t*, std::size_t) {}
  static constexpr std::size_t steps(std::size_t rows, std::size_t deep) { return (rows + 7) / 8 * deep; }

  static void block(const std::int8_t* a, std::size_t a_stride, const std::uint8_t* b, std::size_t deep,
                    std::size_t rows, const std::int32_t*, std::int32_t* c, Ahead& ahead) {
    for (std::size_t i = 0; i < rows; i += 8) {
      for (std::size_t l = 0; l < deep; ++l) ahead.step();
      RowsByPanel<IntBlocks>{reinterpret_cast<const std::uint8_t*>(a + i * a_stride),
                             a_stride,
                             int8_tile_depth,
                             smaller(rows - i, 8),
                             b,
                             deep,
                             nullptr,
                             0,
                             c + i * 32,
                             32}
          .multiply();
    }
  }
};

/// Products of bfloat16 in blocks. Packing is that of Emulated.
struct PairProducts : Emulated {
  static void block(const std::uint16_t* a, std::size_t row_tiles, const std::uint16_t* b, std::size_t depth,
                    std::size_t rows, const Sums& c) {
    constexpr std::size_t tile_bytes = tile_values * sizeof(std::uint16_t);
    for (std::size_t i = 0; i < rows; i += 8) {
      const Sums s = c.down(i);
      RowsByPanel<FloatBlocks>{
          reinterpret_cast<const std::uint8_t*>(a + i / 16 * row_tiles * tile_values + i % 16 * 32),
          64,
          tile_bytes,
          smaller(rows - i, 8),
          reinterpret_cast<const std::uint8_t*>(b),
          depth,
          s.from,
          s.from_stride,
          s.to,
          s.stride}
          .multiply();
    }
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

#endif  // TRIL_KERN_BLOCKS_NEON_INL_H_
