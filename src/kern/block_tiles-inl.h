// Products of many rounded rows with panels of blocks (block_format.h) by tiles of AMX. block_products.cpp includes this once, in a
// namespace that also has block_product-inl.h for sums of four products.
//
// A wide line, four values of 16 columns, is a row of a tile already. A tile's sum cannot take a group's scale on the way. So
// - where scales are whole numbers, a weight is s_g (u - o) in 16 bits, and its lower (unsigned) and upper (signed) bytes are two tiles:
//   sum_g s_g sum_{i in g} (u_i - o) q_i = sum_i lower_i q_i + 256 sum_i upper_i q_i, with one sum for the 256 values of a section;
// - where they are floats, each group has a sum of its own.
// The sums are the same whole numbers as those of vectors, and the floats after them are computed in the same order: the results
// have the same bits.

/// With fewer rows, vectors are faster: the weights are unpacked for too few.
constexpr std::size_t kTileRows = 16;

/// The weights of a section as rows of tiles [part][half of the columns][wide line][64].
template <class Format>
struct TiledSection {
  static constexpr std::size_t parts = Format::has_whole_scales ? 2 : 1;  ///< the lower and the upper bytes, or u - o
  static constexpr std::size_t lines = block_depth / 4;
  alignas(64) std::uint8_t bytes[parts][2][lines][64];

  HWY_NOINLINE void unpack(const Section<Format>& section, const PanelScales<Format, true>& scales) {
    using S = Style<Format>;
    [[maybe_unused]] const hn::Repartition<std::int16_t, Ints> d16;
    [[maybe_unused]] const hn::Repartition<std::uint16_t, Ints> u16;
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint8_t* from = section.lines(half);
      for (std::size_t g = 0; g < section.groups; ++g, from += S::half_bytes) {
        section.fetch_group(from);
        ByteVec wide[S::wide];
        Format::unpack(from, wide);
        std::uint8_t(*const to)[64] = bytes[0][half] + g * S::wide;
        if constexpr (Format::has_whole_scales) {
          std::uint8_t(*const upper_to)[64] = bytes[parts - 1][half] + g * S::wide;
          const auto scale = hn::BitCast(d16, scales.of(g, half * 16));
          const auto scaled = [&](auto u) HWY_ATTR {
            if constexpr (Format::offset != 0) u = hn::Sub(u, hn::Set(d16, Format::offset));
            return hn::BitCast(u16, hn::Mul(u, scale));
          };
          const auto bytes_of = [&](auto words) HWY_ATTR { return hn::BitCast(Bytes(), words); };
#pragma GCC unroll 8
          for (std::size_t w = 0; w < S::wide; ++w) {
            const InWords u = WordsOf(wide[w]);
            const auto even = scaled(u.even), odd = scaled(u.odd);
            hn::Store(hn::OddEven(bytes_of(hn::ShiftLeft<8>(odd)), bytes_of(even)), Bytes(), to[w]);
            hn::Store(hn::OddEven(bytes_of(odd), bytes_of(hn::ShiftRight<8>(even))), Bytes(), upper_to[w]);
          }
        } else {
          const ByteVec offset = hn::Set(Bytes(), Format::offset);
          for (std::size_t w = 0; w < S::wide; ++w) hn::Store(hn::Sub(wide[w], offset), Bytes(), to[w]);
        }
      }
    }
  }
};

/// The sums of 16 rows and some columns: of both parts, or of each group.
template <class Format>
struct TileSums {
  static constexpr std::size_t kinds = Format::has_whole_scales ? 2 : Style<Format>::groups;
  static constexpr std::size_t columns = Format::has_whole_scales ? 32 : 16;
  alignas(64) std::int32_t of[kinds][kTileRows][columns];
};

/// Tiles hold 0 to 3 sums, then activations and weights.
template <class Format>
HWY_INLINE void ConfigureTiles() {
  TileShapes shapes;
  if constexpr (!Format::has_whole_scales) {
    shapes.bytes[4] = shapes.bytes[5] = Format::group;
    shapes.rows[6] = shapes.rows[7] = Format::group / 4;
  }
  shapes.load();
}

/// Sums of both parts of 16 rows and 32 columns. Calls meanwhile(i, n) for i = 0 to n - 1 between products.
template <class Format, class Meanwhile>
HWY_INLINE void MultiplyTiles(const BlockRow* rows, const TiledSection<Format>& u, TileSums<Format>& sums,
                              const Meanwhile& meanwhile) {
  constexpr int stride = sizeof sums.of[0][0];
  constexpr std::size_t steps = TiledSection<Format>::lines / 16;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < steps; ++i) {
    _tile_loadd(4, rows->q + i * 64, sizeof(BlockRow));
    _tile_loadd(5, u.bytes[0][0][i * 16], 64);
    _tile_loadd(6, u.bytes[0][1][i * 16], 64);
    _tile_loadd(7, u.bytes[1][0][i * 16], 64);
    _tile_dpbsud(0, 4, 5);
    _tile_dpbsud(1, 4, 6);
    _tile_loadd(5, u.bytes[1][1][i * 16], 64);
    _tile_dpbssd(2, 4, 7);
    _tile_dpbssd(3, 4, 5);
    meanwhile(i, steps);
  }
  _tile_stored(0, sums.of[0][0], stride);
  _tile_stored(1, sums.of[0][0] + 16, stride);
  _tile_stored(2, sums.of[1][0], stride);
  _tile_stored(3, sums.of[1][0] + 16, stride);
}

/// Sums of each group of 16 rows and half of the columns.
template <class Format, class Meanwhile>
HWY_INLINE void MultiplyTilesByGroup(const BlockRow* rows, const std::uint8_t (*weights)[64], std::size_t groups,
                                     TileSums<Format>& sums, const Meanwhile& meanwhile) {
  constexpr int stride = sizeof sums.of[0][0];
  constexpr std::size_t steps = Style<Format>::groups / 2, wide = Style<Format>::wide;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t g = 2 * i;
    if (g < groups) {
      _tile_zero(0);
      _tile_loadd(4, rows->q + g * Format::group, sizeof(BlockRow));
      _tile_loadd(6, weights[g * wide], 64);
      _tile_dpbssd(0, 4, 6);
    }
    if (g + 1 < groups) {
      _tile_zero(1);
      _tile_loadd(5, rows->q + (g + 1) * Format::group, sizeof(BlockRow));
      _tile_loadd(7, weights[(g + 1) * wide], 64);
      _tile_dpbssd(1, 5, 7);
      meanwhile(i, steps);
      _tile_stored(1, sums.of[g + 1][0], stride);
    } else {
      meanwhile(i, steps);
    }
    if (g < groups) _tile_stored(0, sums.of[g][0], stride);
  }
}

/// Scales the sums of some rows and of 16 or 32 columns of a section, and adds them to c.
template <class Format>
struct FinishTiles {
  const PanelScales<Format, true>& scales_of;
  std::size_t groups;
  const TileSums<Format>* sums;
  const BlockRow* rows;
  float* c;                    ///< [., 32]
  std::size_t begin, end, at;  ///< rows, and the first column

  /// The sums of both parts.
  HWY_INLINE SectionSum<Format> joined(std::size_t r, std::size_t column) const {
    const Ints d;
    SectionSum<Format> sum;
    const IntVec upper = hn::Load(d, sums->of[TileSums<Format>::kinds - 1][r] + column);
    sum.whole = hn::Add(hn::Load(d, sums->of[0][r] + column), hn::ShiftLeft<8>(upper));
    return sum;
  }

  /// For a share of the rows.
  HWY_INLINE void operator()(std::size_t share, std::size_t shares) const {
    const std::size_t all = end - begin, last = begin + all * (share + 1) / shares;
    const ScalesOfColumns<Format> scales(scales_of, groups, at);
    if constexpr (Format::has_whole_scales) {
      const ScalesOfColumns<Format> more_scales(scales_of, groups, 16);
      for (std::size_t r = begin + all * share / shares; r < last; ++r) {
        joined(r, 0).finish(rows[r], scales, groups, 0, c + r * 32);
        joined(r, 16).finish(rows[r], more_scales, groups, 16, c + r * 32);
      }
    } else {
      for (std::size_t r = begin + all * share / shares; r < last; ++r) {
        SectionSum<Format> sum;
#pragma GCC unroll 8
        for (std::size_t g = 0; g < Style<Format>::groups; ++g)
          if (g < groups) sum.add(hn::Load(Ints(), sums->of[g][r]), scales.of(g));
        sum.finish(rows[r], scales, groups, at, c + r * 32);
      }
    }
  }
};

template <class Format>
HWY_NOINLINE void RowsInTiles(const BlockPanel& p) {
  TiledSection<Format> u;
  TileSums<Format> sums[2];
  constexpr std::size_t columns = TileSums<Format>::columns;
  ConfigureTiles<Format>();
  const BlockRow* rows = p.rows;
  Section<Format> section{p.panel, 0};
  for (std::size_t k = 0; k < p.k; k += block_depth, rows += p.m, section.at += section.bytes()) {
    const std::size_t groups = section.groups = smaller(p.k - k, block_depth) / Format::group;
    section.fetch_header();
    const PanelScales<Format, true> scales(section.at);
    u.unpack(section, scales);
    // The rows before are finished while the next ones are multiplied.
    FinishTiles<Format> before{scales, groups, sums, rows, p.c, 0, 0, 0};
    std::size_t turn = 0;
    for (std::size_t i = 0; i < p.m; i += kTileRows) {
      // The last rows are multiplied with some of those before, so that there are as many as in a tile.
      const std::size_t first = smaller(i, p.m - kTileRows);
      for (std::size_t at = 0; at < 32; at += columns, turn = 1 - turn) {
        if constexpr (Format::has_whole_scales)
          MultiplyTiles<Format>(rows + first, u, sums[turn], before);
        else
          MultiplyTilesByGroup<Format>(rows + first, u.bytes[0][at / 16], groups, sums[turn], before);
        before.sums = sums + turn, before.rows = rows + first, before.c = p.c + first * 32, before.at = at;
        before.begin = i - first, before.end = kTileRows;
      }
    }
    before(0, 1);
  }
  _tile_release();
}

void MultiplyPanelInTiles(const BlockPanel& p) {
  if (p.m < kTileRows) return MultiplyPanel(p);
  FromZero(p, [&](auto format) { RowsInTiles<decltype(format)>(p); });
}
