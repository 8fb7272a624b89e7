// Packing and unpacking the tiles of compact operands (compact_bf16.h). Included once for each instruction set.
#if defined(TRIL_KERN_COMPACT_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_COMPACT_BF16_INL_H_
#undef TRIL_KERN_COMPACT_BF16_INL_H_
#else
#define TRIL_KERN_COMPACT_BF16_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kern/bf16-inl.h"
#include "kern/compact_bf16.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

using TileBytes = hn::CappedTag<std::uint8_t, 64>;
using TileByteVec = hn::Vec<TileBytes>;

/// The part of a group's four rows that one vector holds.
struct FourRows {
  TileByteVec row[4];
};
/// @param group  the group's bytes, from this vector's part on
HWY_INLINE FourRows UnpackRows(const std::uint8_t* group, TileByteVec table) {
  const TileBytes d;
  const hn::Repartition<std::uint16_t, TileBytes> d16;
  const auto codes = hn::LoadU(d, group), low_bits = hn::Set(d, 15);
  const auto upper = hn::TableLookupBytes(table, hn::And(codes, low_bits)), lower = hn::LoadU(d, group + 64);
  const auto next = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(d16, codes))), low_bits);
  const auto upper2 = hn::TableLookupBytes(table, next), lower2 = hn::LoadU(d, group + 128);
  return {{hn::InterleaveLower(d, lower, upper), hn::InterleaveUpper(d, lower, upper),
           hn::InterleaveLower(d, lower2, upper2), hn::InterleaveUpper(d, lower2, upper2)}};
}

/// Unpacks the first tile.
HWY_INLINE void UnpackTile(const CompactRight& from, std::uint16_t* HWY_RESTRICT to) {
  if (from.is_whole()) return from.copy_whole(to);
  const TileBytes d;
  const auto table = hn::LoadDup128(d, from.tables);
  const std::uint8_t* tile = from.tiles;
  auto* rows = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t group = 0; group < 4; ++group, tile += 192, rows += 256)
    for (std::size_t i = 0; i < 64; i += hn::Lanes(d)) {
      const FourRows four = UnpackRows(tile + i, table);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < 4; ++r) hn::StoreU(four.row[r], d, rows + r * 64 + i);
    }
}

/// Writes the table of a tile, and the code of each value. False if there are too many upper bytes.
HWY_INLINE bool ChooseTable(const std::uint16_t* HWY_RESTRICT tile, std::uint8_t* HWY_RESTRICT table,
                            std::uint16_t* HWY_RESTRICT codes) {
  const hn::FixedTag<std::uint16_t, 8> d;
  const auto exponent = hn::Set(d, 127);  // without its last bit
  auto least = exponent, most = hn::Zero(d);
  for (std::size_t i = 0; i < tile_values; i += 8) {
    const auto e = hn::And(hn::ShiftRight<8>(hn::LoadU(d, tile + i)), exponent);
    least = hn::Min(least, e), most = hn::Max(most, e);
  }
  std::uint16_t low[8], high[8];
  hn::StoreU(least, d, low);
  hn::StoreU(most, d, high);
  for (std::size_t i = 1; i < 8; ++i) {
    if (low[i] < low[0]) low[0] = low[i];
    if (high[i] > high[0]) high[0] = high[i];
  }
  if (high[0] - low[0] < 8) {  // nearly always: 8 tables with both signs
    for (std::size_t i = 0; i < 8; ++i) {
      table[i] = static_cast<std::uint8_t>((low[0] + i) & 127U);
      table[8 + i] = static_cast<std::uint8_t>(table[i] | 128U);
    }
    for (std::size_t i = 0; i < tile_values; i += 8) {
      const auto upper = hn::ShiftRight<8>(hn::LoadU(d, tile + i));
      const auto sign = hn::And(hn::ShiftRight<4>(upper), hn::Set(d, 8));
      hn::StoreU(hn::Or(hn::Sub(hn::And(upper, exponent), hn::Set(d, low[0])), sign), d, codes + i);
    }
    return true;
  }
  std::uint8_t code_of[256];
  std::memset(code_of, 255, sizeof code_of);
  std::uint8_t count = 0;
  for (std::size_t i = 0; i < tile_values; ++i) {
    const std::size_t upper = tile[i] >> 8U;
    if (code_of[upper] == 255) {
      if (count == 16) return false;
      table[count] = static_cast<std::uint8_t>(upper);
      code_of[upper] = count++;
    }
    codes[i] = code_of[upper];
  }
  for (; count < 16; ++count) table[count] = table[0];  // the first two differ: there are at least two
  return true;
}

/// Where a tile is written.
struct TilePlace {
  std::uint8_t *tile, *table, *rest;
};
HWY_INLINE void PackTile(const std::uint16_t* HWY_RESTRICT from, const TilePlace& to) {
  std::uint16_t codes[tile_values];
  if (!ChooseTable(from, to.table, codes)) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
    std::memset(to.table, 255, compact_table_bytes);
    std::memcpy(to.tile, bytes, compact_tile_bytes);
    std::memcpy(to.rest, bytes + compact_tile_bytes, compact_rest_bytes);
    return;
  }
  const hn::FixedTag<std::uint16_t, 8> d;
  const hn::FixedTag<std::int16_t, 8> signed_words;
  const hn::FixedTag<std::uint8_t, 8> bytes;
  const auto put = [&](auto words, std::uint8_t* at)
                       HWY_ATTR { hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(signed_words, words)), bytes, at); };
  const auto lower = [&](std::size_t at) HWY_ATTR { return hn::And(hn::LoadU(d, from + at), hn::Set(d, 255)); };
  std::uint8_t* tile = to.tile;
  for (std::size_t group = 0; group < 4; ++group, tile += 192)
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t b = 0; b < 4; ++b) {
        const std::size_t at = group * 128 + row * 32 + b * 8, next = at + 64, place = b * 16 + row * 8;
        const auto second = hn::ShiftLeft<4>(hn::LoadU(d, codes + next));
        put(hn::Or(hn::LoadU(d, codes + at), second), tile + place);
        put(lower(at), tile + 64 + place);
        put(lower(next), tile + 128 + place);
      }
}

/// Unpacks the first tiles.
inline HWY_NOINLINE void UnpackTiles(const CompactRight& from, std::size_t count, std::uint16_t* HWY_RESTRICT to) {
  for (std::size_t i = 0; i < count; ++i) UnpackTile(from.from_tile(i), to + i * tile_values);
}

/// `deep` pairs of tiles of a compact panel.
struct CompactPanel {
  CompactRight at;
  std::size_t deep = 0;
};

/// The product of a few packed rows and a compact panel, of which two tiles at a time are unpacked to the first-level cache.
template <class Isa>
struct CompactProduct {
  static constexpr std::size_t most_rows = kFewRows;

  static HWY_NOINLINE void multiply(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    HWY_ALIGN std::uint16_t tiles[2 * tile_values];
    CompactRight from = b.at;
    for (std::size_t l = 0; l < b.deep || l == 0; ++l) {
      const std::size_t deep = smaller(b.deep - l, 1);
      from.fetch();
      UnpackTiles(from, 2 * deep, tiles);
      const Sums s = l == 0 ? c : Sums{c.to, c.stride, c.to, c.stride};
      Isa::block(a.tiles + l * tile_values, a.next, tiles, deep, a.rows, s);
      from = from.from_tile(2);
    }
  }
};

/// The same in float32. For few rows, the panel is unpacked in registers. Each sum is in the order of Emulated::block, as its bits shall
/// be the same.
template <>
struct CompactProduct<Emulated> : Emulated {
  static constexpr std::size_t most_rows = 32;

  static HWY_NOINLINE void multiply(const RowTiles& a, const CompactPanel& b, const Sums& c) {
    HWY_ALIGN float left[kFewRows * kDeepest * 32];
    HWY_ALIGN std::uint16_t unpacked[2 * tile_values];
    CompactRight from = b.at;
    for (std::size_t l = 0; l < b.deep || l == 0; ++l, from = from.from_tile(2)) {
      const std::size_t deep = smaller(b.deep - l, 1);
      const std::uint16_t* const tiles = a.tiles + l * tile_values;
      const Sums s = l == 0 ? c : Sums{c.to, c.stride, c.to, c.stride};
      from.fetch();
      if (a.rows == 1)
        some<1>(tiles, {from, deep}, left, s);
      else if (a.rows == 2)
        some<2>(tiles, {from, deep}, left, s);
      else if (a.rows <= kFewRows)
        some<kFewRows>(tiles, {from, deep}, left, s);
      else
        UnpackTiles(from, 2 * deep, unpacked), block<false>(tiles, a.next, unpacked, deep, a.rows, s);
    }
  }

 private:
  /// kCount rows by at most one pair of tiles. As many columns at a time as registers can hold sums, since an addition waits for the
  /// one before.
  template <std::size_t kCount>
  static HWY_INLINE void some(const std::uint16_t* a, const CompactPanel& b, float* left, const Sums& c) {
    constexpr std::size_t all = 32 / kLanes, fit = kLanes == 16 ? 16 : 8,
                          kVecs = all * kCount <= fit ? all : fit / kCount;
    widen<kCount>(a, b.deep, left);
    for (std::size_t j = 0; j < 32; j += kVecs * kLanes) strip<kCount, kVecs>(left, b, j, c);
  }

  /// kCount rows by the kVecs vectors of columns from j.
  template <std::size_t kCount, std::size_t kVecs>
  static HWY_INLINE void strip(const float* HWY_RESTRICT left, const CompactPanel& b, std::size_t j, const Sums& c) {
    const Floats d;
    Vec sum[kCount][kVecs];
    LoadSums(c.at(0, j), sum);
    const auto add = [&](std::size_t p, std::size_t v, WordVec w) HWY_ATTR {
      const Vec low = LowHalves(w), high = HighHalves(w);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kCount; ++i) {
        const float* const x = left + i * kDeepest * 32 + p;
        sum[i][v] = hn::MulAdd(hn::Set(d, x[16]), high, hn::MulAdd(hn::Set(d, x[0]), low, sum[i][v]));
      }
    };
    const std::uint8_t *const tiles = b.at.tiles, *const tables = b.at.tables;
    if (b.deep == 0) return StoreSums(sum, c.at(0, j));
    if (b.at.is_whole() || b.at.from_tile(1).is_whole()) {
      HWY_ALIGN std::uint16_t unpacked[2 * tile_values];
      UnpackTiles(b.at, 2, unpacked);
      for (std::size_t p = 0; p < 16; ++p)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVecs; ++v) add(p, v, hn::LoadU(Words(), PairsAt(unpacked, 0, p, j + v * kLanes)));
    } else {
      for (std::size_t p = 0; p < 16; p += 4)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < kVecs; ++v) {
          const std::size_t column = j + v * kLanes, tile = column / 16;
          const FourRows four = UnpackRows(tiles + tile * compact_tile_bytes + p * 48 + column % 16 * 4,
                                           hn::LoadDup128(TileBytes(), tables + tile * compact_table_bytes));
#pragma GCC unroll 4
          for (std::size_t r = 0; r < 4; ++r) add(p + r, v, hn::BitCast(Words(), four.row[r]));
        }
    }
    StoreSums(sum, c.at(0, j));
  }
};

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_COMPACT_BF16_INL_H_
