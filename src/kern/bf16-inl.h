// Rounding to bfloat16, packing into tiles (gemm_bf16.h), and the product of two packed blocks. `Emulated`
// multiplies the rounded operands in float32; processors with bfloat16 products have their own code in
// bf16_avx512-inl.h. Included once for each instruction set.
#if defined(TRIL_KERN_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_BF16_INL_H_
#undef TRIL_KERN_BF16_INL_H_
#else
#define TRIL_KERN_BF16_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kern/gemm_bf16.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

using Words = hn::ScalableTag<std::uint32_t>;
using WordVec = hn::Vec<Words>;

/// The first cache line boundary at or after p.
HWY_INLINE std::uint16_t* AlignedUp(std::uint16_t* p) {
  return reinterpret_cast<std::uint16_t*>((reinterpret_cast<std::uintptr_t>(p) + 63) & ~std::uintptr_t{63});
}

/// y [rows, cols] = the sums in `tile` [32, 32], or += them.
HWY_INLINE void PutTile(const float* HWY_RESTRICT tile, std::size_t rows, std::size_t cols, float* y,
                        std::size_t stride, bool add) {
  for (std::size_t i = 0; i < rows; ++i)
    ForEach(cols, [=](std::size_t j, auto io) HWY_ATTR {
      const Vec v = hn::Load(Floats(), tile + i * 32 + j);
      float* const at = y + i * stride + j;
      io.store(add ? hn::Add(v, io.load(at)) : v, at);
    });
}

/// The nearest bfloat16, ties to even, in the upper half of each word; the lower half is undefined. NaN stays NaN.
HWY_INLINE WordVec Rounded(Vec v) {
  const Words du;
  const WordVec bits = hn::BitCast(du, v);
  const WordVec even = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const WordVec up = hn::Add(bits, hn::Add(even, hn::Set(du, 0x7fff)));
  const auto nan = hn::RebindMask(du, hn::IsNaN(v));
  return hn::IfThenElse(nan, hn::Or(bits, hn::Set(du, 0x00400000)), up);
}

/// Each word holds the bfloat16 of `low` in its lower and that of `high` in its upper half.
HWY_INLINE WordVec Pairs(Vec low, Vec high) {
  const Words du;
  return hn::Or(hn::ShiftRight<16>(Rounded(low)), hn::And(Rounded(high), hn::Set(du, 0xffff0000u)));
}

/// The bfloat16 in the lower halves of words, in float32; those in the upper halves.
HWY_INLINE Vec LowHalves(WordVec w) {
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(w));
}
HWY_INLINE Vec HighHalves(WordVec w) {
  return hn::BitCast(Floats(), hn::And(w, hn::Set(Words(), 0xffff0000u)));
}

/// Converts the 32 values of a row of a left tile to float32. The 16 with even numbers come first, then the odd ones, so that a product
/// reads each by a broadcast from memory without unpacking.
HWY_INLINE void WidenPairs(const std::uint16_t* row, float* HWY_RESTRICT to) {
  const auto* const pairs = reinterpret_cast<const std::uint32_t*>(row);
  for (std::size_t p = 0; p < 16; p += hn::Lanes(Floats())) {
    const WordVec w = hn::LoadU(Words(), pairs + p);
    hn::Store(LowHalves(w), Floats(), to + p);
    hn::Store(HighHalves(w), Floats(), to + 16 + p);
  }
}

/// Stores the lanes of v as consecutive bfloat16.
HWY_INLINE void StoreRounded(Vec v, std::uint16_t* to) {
  const hn::Rebind<std::uint16_t, Words> d16;
  hn::StoreU(hn::TruncateTo(d16, hn::ShiftRight<16>(Rounded(v))), d16, to);
}

/// Packs one row into a left operand's tiles: k values at x, then zeros up to a multiple of 32. `to`: its place in
/// the first tile.
HWY_INLINE void PackRow(const float* HWY_RESTRICT x, std::size_t k, std::uint16_t* HWY_RESTRICT to) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), end = tiles_of(k, 32) * 32;
  std::size_t j = 0;
  for (; j + lanes <= k; j += lanes) StoreRounded(hn::LoadU(d, x + j), to + j / 32 * tile_values + j % 32);
  if (j < k) {
    StoreRounded(LoadPart(d, x + j, k - j), to + j / 32 * tile_values + j % 32);
    j += lanes;
  }
  for (; j < end; j += lanes) StoreRounded(hn::Zero(d), to + j / 32 * tile_values + j % 32);
}

/// Packs 16 rows of a right operand's tile column: pairs of the rows 2 p, 2 p + 1 of x [k, n], k <= 32, n <= 16.
HWY_INLINE void PackPairs(const float* HWY_RESTRICT x, std::size_t stride, std::size_t k, std::size_t n,
                          std::uint16_t* HWY_RESTRICT tile) {
  const Floats d;
  const Words du;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t p = 0; p < 16; ++p) {
    auto* const to = reinterpret_cast<std::uint32_t*>(tile) + p * 16;
    const float* const low = x + 2 * p * stride;
    for (std::size_t c = 0; c < 16; c += lanes) {
      Vec a = hn::Zero(d), b = hn::Zero(d);
      if (c + lanes <= n) {
        if (2 * p < k) a = hn::LoadU(d, low + c);
        if (2 * p + 1 < k) b = hn::LoadU(d, low + stride + c);
      } else if (c < n) {
        if (2 * p < k) a = LoadPart(d, low + c, n - c);
        if (2 * p + 1 < k) b = LoadPart(d, low + stride + c, n - c);
      }
      hn::StoreU(Pairs(a, b), du, to + c);
    }
  }
}

/// Transposes a tile's 16 x 16 words in place, which turns a tile of one operand into one of the other.
HWY_INLINE void TransposeTile(std::uint16_t* tile) {
  const hn::Full128<std::uint32_t> d;
  const hn::Full128<std::uint64_t> dd;
  auto* const words = reinterpret_cast<std::uint32_t*>(tile);
  struct Block {
    hn::Vec<hn::Full128<std::uint32_t>> row[4];
  };
  const auto transposed = [&](std::size_t r, std::size_t c) HWY_ATTR {
    const std::uint32_t* from = words + r * 16 + c;
    const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + 16), e = hn::LoadU(d, from + 32),
               f = hn::LoadU(d, from + 48);
    const auto ab = hn::BitCast(dd, hn::InterleaveLower(d, a, b)), ef = hn::BitCast(dd, hn::InterleaveLower(d, e, f));
    const auto ab2 = hn::BitCast(dd, hn::InterleaveUpper(d, a, b)), ef2 = hn::BitCast(dd, hn::InterleaveUpper(d, e, f));
    return Block{{hn::BitCast(d, hn::InterleaveLower(dd, ab, ef)), hn::BitCast(d, hn::InterleaveUpper(dd, ab, ef)),
                  hn::BitCast(d, hn::InterleaveLower(dd, ab2, ef2)),
                  hn::BitCast(d, hn::InterleaveUpper(dd, ab2, ef2))}};
  };
  const auto store = [&](const Block& b, std::size_t r, std::size_t c) HWY_ATTR {
    for (std::size_t i = 0; i < 4; ++i) hn::StoreU(b.row[i], d, words + (r + i) * 16 + c);
  };
  for (std::size_t r = 0; r < 16; r += 4) {
    store(transposed(r, r), r, r);
    for (std::size_t c = r + 4; c < 16; c += 4) {
      const Block upper = transposed(r, c), lower = transposed(c, r);
      store(upper, c, r);
      store(lower, r, c);
    }
  }
}

/// Packs rows [0, rows) of x [rows, k] as a left operand of tiles_of(rows, 32) * 2 rows of tiles.
template <class Isa>
HWY_INLINE void PackLeft(const float* x, std::size_t stride, std::size_t rows, std::size_t k, std::uint16_t* packed) {
  const std::size_t depth = tiles_of(k, 32), padded = tiles_of(rows, 32) * 32;
  for (std::size_t i = 0; i < padded; ++i)
    Isa::pack_row(x + (i < rows ? i * stride : 0), i < rows ? k : 0, depth,
                  packed + i / 16 * depth * tile_values + i % 16 * 32);
}

/// The same for x stored as [k, rows].
template <class Isa>
HWY_INLINE void PackLeftTransposed(const float* x, std::size_t stride, std::size_t rows, std::size_t k,
                                   std::uint16_t* packed) {
  const std::size_t depth = tiles_of(k, 32);
  for (std::size_t l = 0; l < depth; ++l)  // 32 rows as they are in memory, whole
    for (std::size_t i = 0; i < tiles_of(rows, 32) * 2; ++i) {
      const std::size_t columns = i * 16 < rows ? rows - i * 16 : 0, deep = k - l * 32;
      std::uint16_t* const tile = packed + (i * depth + l) * tile_values;
      Isa::pack_pairs(x + l * 32 * stride + i * 16, stride, deep < 32 ? deep : 32, columns < 16 ? columns : 16, tile);
      Isa::transpose_tile(tile);
    }
}

/// Packs a tile of a right operand that is stored as [n, k]: n <= 16 columns of k <= 32 values.
template <class Isa>
HWY_INLINE void PackRightTile(const float* b, std::size_t stride, std::size_t k, std::size_t n, std::uint16_t* tile) {
  for (std::size_t i = 0; i < 16; ++i) Isa::pack_row(i < n ? b + i * stride : b, i < n ? k : 0, 1, tile + i * 32);
  Isa::transpose_tile(tile);
}

template <class Isa>
HWY_INLINE void PackRightOf(const PackRight& b) {
  const std::size_t depth = tiles_of(b.k, 32), width = tiles_of(b.n, 32) * 2;
  const auto pack = [&](std::size_t l, std::size_t j) HWY_ATTR {
    const std::size_t columns = j * 16 < b.n ? b.n - j * 16 : 0, n = columns < 16 ? columns : 16;
    std::uint16_t* const tile = b.packed + ((j / 2 * depth + l) * 2 + j % 2) * tile_values;
    const std::size_t deep = b.k - l * 32, k = deep < 32 ? deep : 32;
    if (!b.transposed) return Isa::pack_pairs(b.b + l * 32 * b.stride + j * 16, b.stride, k, n, tile);
    PackRightTile<Isa>(n > 0 ? b.b + j * 16 * b.stride + l * 32 : b.b, b.stride, k, n, tile);
  };
  // In the memory order of B.
  if (b.transposed) {
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t l = 0; l < depth; ++l) pack(l, j);
  } else {
    for (std::size_t l = 0; l < depth; ++l)
      for (std::size_t j = 0; j < width; ++j) pack(l, j);
  }
}

/// The initial and the final place of the sums of a product of two blocks; both pointers may be equal.
struct Sums {
  const float* from = nullptr;  ///< null: start from zero
  std::size_t from_stride = 0;  ///< floats from row to row
  float* to = nullptr;
  std::size_t stride = 0;

  Sums at(std::size_t row, std::size_t column) const {
    return {from ? from + row * from_stride + column : nullptr, from_stride, to + row * stride + column, stride};
  }
  Sums down(std::size_t rows) const { return at(rows, 0); }
};

/// The sums of kCount rows by kVecs vectors of columns: as they begin, and to their place.
template <std::size_t kCount, std::size_t kVecs>
HWY_INLINE void LoadSums(const Sums& c, Vec (&sum)[kCount][kVecs]) {
  const Floats d;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kCount; ++i)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVecs; ++v)
      sum[i][v] = c.from ? hn::LoadU(d, c.from + i * c.from_stride + v * hn::Lanes(d)) : hn::Zero(d);
}
template <std::size_t kCount, std::size_t kVecs>
HWY_INLINE void StoreSums(const Vec (&sum)[kCount][kVecs], const Sums& c) {
  const Floats d;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kCount; ++i)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVecs; ++v) hn::StoreU(sum[i][v], d, c.to + i * c.stride + v * hn::Lanes(d));
}

/// A part of a right operand: `panels` panels from number `panel` on, and of each `deep` pairs of tiles from pair `first` on.
struct PanelRange {
  std::size_t panel, first, deep, panels;
};
/// Panels of a right operand, each `deep` tiles of depth from its first, with `next` values from one panel to the next.
struct PanelTiles {
  const std::uint16_t* tiles = nullptr;
  std::size_t next = 0, deep = 0, panels = 0;
};

/// At most 32 rows of a left operand: two rows of `deep` tiles, which are `next` tiles apart.
struct RowTiles {
  const std::uint16_t* tiles = nullptr;
  std::size_t next = 0, deep = 0, rows = 0;
};

/// The pairs of depth 2 p, 2 p + 1 of tile l of a panel, from this column on.
HWY_INLINE const std::uint32_t* PairsAt(const std::uint16_t* panel, std::size_t l, std::size_t p, std::size_t column) {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(panel);
  return words + (2 * l + column / 16) * (tile_values / 2) + p * 16 + column % 16;
}
constexpr std::size_t kPairsAhead = 4096;  // that are prefetched when a panel is first read

/// Rows of a decode step: up to so many wait for a weight that comes from memory, and read it once.
constexpr std::size_t kFewRows = 4;

/// The product of two packed blocks in float32.
struct Emulated {
  static void begin(std::size_t = 0) {}
  static void end() {}
  static HWY_INLINE void pack_row(const float* x, std::size_t k, std::size_t depth, std::uint16_t* to) {
    PackRow(x, k, to);
    for (std::size_t l = tiles_of(k, 32); l < depth; ++l)
      for (std::size_t j = 0; j < 32; ++j) to[l * tile_values + j] = 0;
  }
  static HWY_INLINE void pack_pairs(const float* x, std::size_t stride, std::size_t k, std::size_t n,
                                    std::uint16_t* tile) {
    PackPairs(x, stride, k, n, tile);
  }
  static HWY_INLINE void transpose_tile(std::uint16_t* tile) { TransposeTile(tile); }

  /// c [32, 32] += the product of two rows of `depth` left tiles, `row_tiles` apart, and a panel of `depth` pairs
  /// of right tiles. If rows <= 16, the lower half of c is not touched.
  /// @tparam kFetch  prefetch what follows the panel
  template <bool kFetch = true>
  static HWY_NOINLINE void block(const std::uint16_t* a, std::size_t row_tiles, const std::uint16_t* b,
                                 std::size_t depth, std::size_t rows, const Sums& c) {
    HWY_ALIGN float left[kRows * kDeepest * 32];
    const std::size_t deepest = rows <= kFewRows && kLanes == 8 ? 1 : kDeepest;
    for (std::size_t l = 0; l < depth || l == 0; l += deepest) {
      const std::size_t deep = smaller(depth - l, deepest);
      const Sums s = l == 0 ? c : Sums{c.to, c.stride, c.to, c.stride};
      for (std::size_t i = 0; i < rows; i += kRows) {
        const std::uint16_t* const tiles = a + (i / 16 * row_tiles + l) * tile_values + i % 16 * 32;
        const std::uint16_t* const panel = b + l * 2 * tile_values;
        const Place at{panel, deep, kFetch && i == 0 ? kPairsAhead : 0};
        if (rows - i == 1)
          some<1>(tiles, at, left, s.down(i));
        else if (rows - i == 2)
          some<2>(tiles, at, left, s.down(i));
        else if (rows - i <= kFewRows)
          some<kFewRows>(tiles, at, left, s.down(i));
        else
          some<kRows>(tiles, at, left, s.down(i));
      }
    }
  }

 protected:
  // The sums of kRows rows by two vectors stay in registers: 16 of 32 with AVX-512, 8 of 16 otherwise. With vectors of four, one or
  // two rows have four of them, which are a tile.
  static constexpr std::size_t kLanes = HWY_LANES(float), kRows = kLanes == 16 ? 8 : 4;
  // Tiles of depth at a time: rows of 1 KiB in float32, which stay in the first cache. The few rows of a decode step wait for the
  // panel, which comes from memory. With AVX2, where a strip is a tile, they read it tile by tile: memory delivers a panel in its own
  // order 1.4 times as fast as two streams of tiles.
  static constexpr std::size_t kDeepest = 8;

  /// Rows of `deep` left tiles in float32.
  template <std::size_t kCount>
  static HWY_INLINE void widen(const std::uint16_t* HWY_RESTRICT a, std::size_t deep, float* HWY_RESTRICT left) {
    for (std::size_t i = 0; i < kCount; ++i)
      for (std::size_t l = 0; l < deep; ++l) WidenPairs(a + l * tile_values + i * 32, left + (i * kDeepest + l) * 32);
  }

 private:
  /// Tiles of a panel of B, and the distance of the words that are prefetched.
  struct Place {
    const std::uint16_t* b;
    std::size_t deep, ahead;
  };

  /// kCount rows by 32 columns, at most kDeepest tiles deep.
  template <std::size_t kCount>
  static HWY_INLINE void some(const std::uint16_t* a, const Place& at, float* left, const Sums& c) {
    widen<kCount>(a, at.deep, left);
    constexpr std::size_t kVecs = kCount <= 2 && kLanes == 4 ? 4 : 2;
    for (std::size_t j = 0; j < 32; j += kVecs * kLanes) strip<kCount, kVecs>(left, at, j, c);
  }

  /// kCount rows by the kVecs vectors of columns from j.
  template <std::size_t kCount, std::size_t kVecs>
  static HWY_INLINE void strip(const float* HWY_RESTRICT left, const Place& at, std::size_t j, const Sums& c) {
    const Floats d;
    Vec sum[kCount][kVecs];
    LoadSums(c.at(0, j), sum);
    for (std::size_t l = 0; l < at.deep; ++l)
      for (std::size_t p = 0; p < 16; ++p) {
        WordVec w[kVecs];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVecs; ++v) {
          const std::uint32_t* const from = PairsAt(at.b, l, p, j + v * kLanes);
          w[v] = hn::LoadU(Words(), from);
          if (v % (16 / kLanes) == 0) __builtin_prefetch(from + at.ahead, 0, 2);
        }
        const float* const x = left + l * 32 + p;
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kCount; ++i) {
          const Vec value = hn::Set(d, x[i * kDeepest * 32]);
#pragma GCC unroll 4
          for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::MulAdd(value, LowHalves(w[v]), sum[i][v]);
        }
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kCount; ++i) {
          const Vec value = hn::Set(d, x[i * kDeepest * 32 + 16]);
#pragma GCC unroll 4
          for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::MulAdd(value, HighHalves(w[v]), sum[i][v]);
        }
      }
    StoreSums(sum, c.at(0, j));
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_BF16_INL_H_
