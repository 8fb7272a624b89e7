// Products of rounded rows with panels of blocks (block_format.h). There is no include guard: block_products.cpp includes
// this once for each way to multiply, in a namespace of its own. TRIL_BLOCK_FOURS is 1 where the code is compiled for
// instructions that add the products of four bytes to a 32-bit sum (AVX-512 VNNI, AVX-VNNI, ARM's dot product).
//
// Without them, x86 has two ways. If u is small, it multiplies pairs of bytes: the sums of the products u q of
// Format::whole_lines wide lines fit 16 bits, and one instruction then multiplies them by the scale and adds them in 32 bits. Such
// a sum may overflow on the way if it starts from the offset. This is harmless: sums are modulo 2^16, and the final one fits.
// If u has 8 bits, both factors are first widened to 16 bits, because the instructions that move the sign from one byte to the
// other would occupy the multiplying units. Other processors widen each byte.

/// How the lines of a format are multiplied.
template <class Format>
struct Style {
  static constexpr bool narrow = Format::most <= 127;
#if HWY_ARCH_X86
  /// Sums in 16 bits.
  static constexpr bool pairs = !TRIL_BLOCK_FOURS && narrow;
  /// Bytes and activations are widened to 16 bits.
  static constexpr bool words = !TRIL_BLOCK_FOURS && !narrow;
  static constexpr bool has_sign = false;
#else
  static constexpr bool pairs = false, words = false;
  /// Wide lines are numbers with a sign, u - 128.
  static constexpr bool has_sign = TRIL_BLOCK_FOURS && !narrow;
#endif
  static constexpr std::size_t wide = Format::group / 4;                   ///< wide lines of a group
  static constexpr bool whole_bytes = Format::lines == wide;               ///< lines are wide as they lie in the panel
  static constexpr std::size_t part = pairs ? Format::whole_lines : wide;  ///< summed before the scale
  static constexpr int offset = has_sign ? 0 : Format::offset;             ///< subtracted by BlockRow::starts
  static constexpr std::size_t groups = block_depth / Format::group;
  static constexpr std::size_t half_bytes = Format::lines * 64;  ///< of a group for 16 columns
  static_assert(Format::offset == 0 || part >= wide || has_sign, "the offset belongs to the whole group");
};

/// Four activations in every lane.
HWY_INLINE ByteVec FourOf(const std::int8_t* q) {
  std::int32_t four;
  __builtin_memcpy(&four, q, sizeof four);
  return hn::BitCast(Bytes(), hn::Set(Ints(), four));
}

/// The even and the odd bytes of a wide line in 16 bits.
struct InWords {
  hn::Vec<hn::Repartition<std::int16_t, Ints>> even, odd;
};
HWY_INLINE InWords WordsOf(ByteVec w) {
  const hn::Repartition<std::uint16_t, Ints> u16;
  const hn::Repartition<std::int16_t, Ints> d16;
  const auto words = hn::BitCast(u16, w);
  return {hn::BitCast(d16, hn::And(words, hn::Set(u16, 255))), hn::BitCast(d16, hn::ShiftRight<8>(words))};
}
/// sum + the products of pairs of words, by column.
template <class V16>
HWY_INLINE IntVec AddWords(IntVec sum, V16 w, const std::int8_t* q) {
  sum = AddPairs(sum, hn::BitCast(hn::Repartition<std::int16_t, Ints>(), FourOf(q)), w);
#if HWY_ARCH_X86
  __asm__("" : "+v"(sum.raw));  // as below
#endif
  return sum;
}

/// sum + the products of a wide line and four activations at q, by column.
template <class Format>
HWY_INLINE IntVec AddWide(IntVec sum, ByteVec w, const std::int8_t* q) {
  const ByteVec x = FourOf(q);
  [[maybe_unused]] const Ints d;
  using Pairs = hn::Repartition<std::int16_t, Ints>;
  [[maybe_unused]] const Pairs d16;
#if TRIL_BLOCK_FOURS
#if HWY_TARGET == HWY_AVX3
  return IntVec{_mm512_dpbusd_epi32(sum.raw, w.raw, x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return IntVec{_mm256_dpbusd_avx_epi32(sum.raw, w.raw, x.raw)};
#else
  return IntVec(vdotq_s32(sum.raw, vreinterpretq_s8_u8(w.raw), vreinterpretq_s8_u8(x.raw)));
#endif
#elif HWY_ARCH_X86
  static_assert(Style<Format>::pairs, "other formats go through AddWords");
  auto sum16 = hn::Add(hn::BitCast(d16, sum), PairsOfBytes(w, x));
  __asm__(""
          : "+v"(sum16.raw));  // otherwise GCC multiplies everything first, to add in a tree, and runs out of registers
  return hn::BitCast(d, sum16);
#else
  const hn::Repartition<std::uint16_t, Ints> u16;
  const auto w16 = hn::BitCast(u16, w);
  const auto x16 = hn::BitCast(d16, x);
  const auto even = hn::BitCast(d16, hn::And(w16, hn::Set(u16, 255))), odd = hn::BitCast(d16, hn::ShiftRight<8>(w16));
  sum = AddPairs(sum, hn::ShiftRight<8>(hn::ShiftLeft<8>(x16)), even);
  return AddPairs(sum, hn::ShiftRight<8>(x16), odd);
#endif
}

/// A wide line as AddLine takes it.
template <class Format>
HWY_INLINE auto ReadyLine(ByteVec w) {
  if constexpr (Style<Format>::words)
    return WordsOf(w);
  else
    return w;
}
template <class Format>
HWY_INLINE IntVec AddLine(IntVec sum, ByteVec w, const std::int8_t* q) {
  return AddWide<Format>(sum, w, q);
}
template <class Format>
HWY_INLINE IntVec AddLine(IntVec sum, const InWords& w, const std::int8_t* q) {
  return AddWords(AddWords(sum, w.even, q), w.odd, q + block_depth);
}

/// The wide lines of a group as AddWide takes them.
template <class Format>
HWY_INLINE void WideLines(const std::uint8_t* lines, ByteVec* wide) {
  Format::unpack(lines, wide);
  if constexpr (Style<Format>::has_sign)
    for (std::size_t p = 0; p < Style<Format>::wide; ++p) wide[p] = hn::Xor(wide[p], hn::Set(Bytes(), 128));
}

/// total + s_g sum
template <class Format>
HWY_INLINE IntVec AddScaled(IntVec total, IntVec sum, IntVec scale) {
  if constexpr (Style<Format>::pairs) {
    const hn::Repartition<std::int16_t, Ints> d16;
    return AddPairs(total, hn::BitCast(d16, sum), hn::BitCast(d16, scale));
  } else {
    return hn::Add(total, hn::Mul(sum, scale));
  }
}

/// A_g
HWY_INLINE float sum_of_group(const BlockRow& row, std::size_t g) {
  return static_cast<float>(static_cast<std::int16_t>(row.pairs[g / 2] >> (g % 2 * 16)));
}

/// The sums of a section for one row and one vector of columns.
template <class Format>
struct SectionSum {
  IntVec whole;
  Vec single;

  HWY_INLINE SectionSum() : whole(hn::Zero(Ints())), single(hn::Zero(Floats())) {}
  /// Adds the sum of a group or a part of it, with the group's scale.
  template <class Scale>
  HWY_INLINE void add(IntVec sum, Scale scale) {
    if constexpr (Format::has_whole_scales) {
      whole = AddScaled<Format>(whole, sum, scale);
    } else {
      if constexpr (Style<Format>::pairs) sum = AddScaled<Format>(hn::Zero(Ints()), sum, hn::Set(Ints(), 0x10001));
      single = hn::MulAdd(hn::ConvertTo(Floats(), sum), scale, single);
    }
  }
  /// Adds the product of a section of so many groups to c.
  template <class Scales>
  HWY_INLINE void finish(const BlockRow& row, const Scales& s, std::size_t groups, std::size_t at, float* c) const {
    const Floats d;
    Vec sum = single;
    if constexpr (Format::has_whole_scales) sum = hn::Mul(hn::ConvertTo(d, whole), s.d(at));
    if constexpr (Format::has_minimums) {
      const hn::Repartition<std::int16_t, Ints> d16;
      IntVec least = hn::Zero(Ints());
      for (std::size_t j = 0; j < 4; ++j)
        least = AddPairs(least, hn::BitCast(d16, hn::Set(Ints(), row.pairs[j])), hn::BitCast(d16, s.minimums(j, at)));
      sum = hn::NegMulAdd(hn::ConvertTo(d, least), s.e(at), sum);
    }
    if constexpr (Format::has_block_minimums)
      for (std::size_t g = 0; g < groups; ++g)
        sum = hn::MulAdd(hn::Set(d, sum_of_group(row, g)), s.block_minimum(g, at), sum);
    hn::StoreU(hn::MulAdd(sum, hn::Set(d, row.scale), hn::LoadU(d, c + at)), d, c + at);
  }
};

/// The activations of a section for a few rows, as AddLine takes them: bytes, or words of the values 4 p and 4 p + 2, and then
/// of the others.
template <class Format, std::size_t kRows>
class SectionRows {
 public:
  HWY_INLINE explicit SectionRows(const BlockRow* rows) : rows_(rows) {
    if constexpr (Style<Format>::words)
      for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t i = 0; i < block_depth; i += hn::Lanes(Bytes())) {
          const hn::Repartition<std::int16_t, Ints> d16;
          const hn::Repartition<std::int8_t, Ints> d8;
          const auto both = hn::BitCast(d16, hn::Load(d8, rows[r].q + i));
          hn::Store(hn::BitCast(d8, hn::ShiftRight<8>(hn::ShiftLeft<8>(both))), d8, words_[r] + i);
          hn::Store(hn::BitCast(d8, hn::ShiftRight<8>(both)), d8, words_[r] + block_depth + i);
        }
  }
  HWY_INLINE const std::int8_t* q(std::size_t row) const {
    if constexpr (Style<Format>::words)
      return words_[row];
    else
      return rows_[row].q;
  }

 private:
  const BlockRow* rows_;
  alignas(64) std::int8_t words_[Style<Format>::words ? kRows : 1][2 * block_depth];
};

/// A section of a panel.
template <class Format>
struct Section {
  const std::uint8_t* at;
  std::size_t groups;

  const std::uint8_t* lines(std::size_t half) const {
    return at + Format::header(groups) + half * groups * Style<Format>::half_bytes;
  }
  std::size_t bytes() const { return Format::header(groups) + 2 * groups * Style<Format>::half_bytes; }

  // Prefetch distance in bytes: a section or two are multiplied while memory answers (measured on a Zen 4).
  static constexpr std::size_t ahead = 8 << 10;
  HWY_INLINE void fetch_header() const { fetch(at, Format::header(groups)); }
  HWY_INLINE void fetch_group(const std::uint8_t* lines_of_group) const {
    fetch(lines_of_group, Style<Format>::half_bytes);
  }

 private:
  static HWY_INLINE void fetch(const std::uint8_t* from, std::size_t n) {
    for (std::size_t i = 0; i < n; i += 64) __builtin_prefetch(from + ahead + i, 0, 3);
  }
};

/// Few rows: lines are unpacked as they are multiplied.
template <class Format, std::size_t kRows>
HWY_NOINLINE void FewRows(const BlockPanel& p) {
  using S = Style<Format>;
  const Ints d;
  constexpr std::size_t lanes = HWY_LANES(std::int32_t), kVecs = kRows == 1 && lanes == 8 ? 2 : 1;
  const BlockRow* rows = p.rows;
  Section<Format> section{p.panel, 0};
  for (std::size_t k = 0; k < p.k; k += block_depth, rows += p.m, section.at += section.bytes()) {
    section.groups = smaller(p.k - k, block_depth) / Format::group;
    section.fetch_header();
    const PanelScales<Format, S::pairs> s(section.at);
    const SectionRows<Format, kRows> activations(rows);
    for (std::size_t c = 0; c < 32; c += kVecs * lanes) {
      const std::uint8_t* from = section.lines(c / 16) + c % 16 * 4;
      SectionSum<Format> sums[kRows][kVecs];
      for (std::size_t g = 0; g < section.groups; ++g, from += S::half_bytes) {
        if (c % 16 == 0) section.fetch_group(from);
        ByteVec wide[kVecs][S::wide];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVecs; ++v) WideLines<Format>(from + v * lanes * 4, wide[v]);
        IntVec sum[kRows][kVecs];
        for (std::size_t r = 0; r < kRows; ++r)
          for (std::size_t v = 0; v < kVecs; ++v) sum[r][v] = hn::Set(d, rows[r].starts[g]);
#pragma GCC unroll 8
        for (std::size_t w = 0; w < S::wide; ++w) {
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kVecs; ++v) {
            const auto ready = ReadyLine<Format>(wide[v][w]);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < kRows; ++r) {
              if (w > 0 && w % S::part == 0) sums[r][v].add(sum[r][v], s.of(g, c + v * lanes)), sum[r][v] = hn::Zero(d);
              sum[r][v] = AddLine<Format>(sum[r][v], ready, activations.q(r) + g * Format::group + 4 * w);
            }
          }
        }
        for (std::size_t r = 0; r < kRows; ++r)
          for (std::size_t v = 0; v < kVecs; ++v) sums[r][v].add(sum[r][v], s.of(g, c + v * lanes));
      }
      for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t v = 0; v < kVecs; ++v)
          sums[r][v].finish(rows[r], s, section.groups, c + v * lanes, p.c + r * 32);
    }
  }
}

/// An unpacked section: the wide lines of all 32 columns; with words, the even bytes of each and then the odd ones.
template <class Format>
struct UnpackedSection {
  static constexpr std::size_t parts = Style<Format>::words ? 2 : 1;
  std::size_t groups;
  alignas(64) std::uint8_t wide[block_depth / 4][parts][32 * 4];
  ReadyScales<Format, Style<Format>::pairs> scales;
};

/// A line of an unpacked section.
template <class Format>
HWY_INLINE void StoreWide(ByteVec w, std::uint8_t (*line)[32 * 4], std::size_t at) {
  if constexpr (Style<Format>::words) {
    const InWords words = WordsOf(w);
    hn::Store(hn::BitCast(Bytes(), words.even), Bytes(), line[0] + at);
    hn::Store(hn::BitCast(Bytes(), words.odd), Bytes(), line[1] + at);
  } else {
    hn::Store(w, Bytes(), line[0] + at);
  }
}

/// sum + the products of a line.
template <class Format>
HWY_INLINE IntVec AddStored(IntVec sum, const std::uint8_t (*line)[32 * 4], std::size_t at, const std::int8_t* q) {
  if constexpr (Style<Format>::words) {
    const hn::Repartition<std::int16_t, Ints> d16;
    const auto words = [&](std::size_t part) HWY_ATTR { return hn::BitCast(d16, hn::Load(Bytes(), line[part] + at)); };
    return AddLine<Format>(sum, InWords{words(0), words(1)}, q);
  } else {
    return AddLine<Format>(sum, hn::Load(Bytes(), line[0] + at), q);
  }
}

constexpr std::size_t kVecsAtOnce = 2;

/// The steps of RowsOfSection for a section of so many groups.
constexpr std::size_t steps_of(std::size_t groups) {
  return groups * (32 / (kVecsAtOnce * HWY_LANES(std::int32_t)));
}

template <class Format, std::size_t kRows>
HWY_NOINLINE void RowsOfSection(const UnpackedSection<Format>& u, const BlockRow* rows, float* c, Ahead& to_come) {
  using S = Style<Format>;
  Ahead ahead = to_come;
  const Ints d;
  const std::size_t lanes = hn::Lanes(d);
  const SectionRows<Format, kRows> activations(rows);
  for (std::size_t c0 = 0; c0 < 32; c0 += kVecsAtOnce * lanes) {
    SectionSum<Format> sums[kRows][kVecsAtOnce];
    for (std::size_t g = 0; g < u.groups; ++g) {
      ahead.step_near();
      const std::size_t first = g * S::wide;
      IntVec sum[kRows][kVecsAtOnce];
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVecsAtOnce; ++v) sum[r][v] = hn::Set(d, rows[r].starts[g]);
      for (std::size_t begin = 0; begin < S::wide; begin += S::part) {
#pragma GCC unroll 8
        for (std::size_t w = 0; w < S::part; ++w) {
          const auto* const line = u.wide[first + begin + w];
#pragma GCC unroll 8
          for (std::size_t r = 0; r < kRows; ++r) {
            const std::int8_t* const q = activations.q(r) + (first + begin + w) * 4;
#pragma GCC unroll 2
            for (std::size_t v = 0; v < kVecsAtOnce; ++v)
              sum[r][v] = AddStored<Format>(sum[r][v], line, (c0 + v * lanes) * 4, q);
          }
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
          for (std::size_t v = 0; v < kVecsAtOnce; ++v) {
            sums[r][v].add(sum[r][v], u.scales.of(g, c0 + v * lanes));
            sum[r][v] = hn::Zero(d);
          }
      }
    }
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t v = 0; v < kVecsAtOnce; ++v)
        sums[r][v].finish(rows[r], u.scales, u.groups, c0 + v * lanes, c + r * 32);
  }
  to_come = ahead;
}

#if HWY_TARGET == HWY_AVX3
// Whole bytes need no unpacking, but more bytes come from memory, and FewRows waits for them.
template <class Format>
constexpr std::size_t kFewRows = TRIL_BLOCK_FOURS ? (Style<Format>::whole_bytes ? 4 : 8) : 3;
constexpr std::size_t kMostRows = 6;
#else
template <class Format>
constexpr std::size_t kFewRows = 3;
constexpr std::size_t kMostRows = 4;
#endif

template <class Format, std::size_t kRows>
void PartOfSection(std::size_t m, const UnpackedSection<Format>& u, const BlockRow* rows, float* c, Ahead& ahead) {
  if constexpr (kRows < kMostRows)
    if (m > kRows) return PartOfSection<Format, kRows + 1>(m, u, rows, c, ahead);
  RowsOfSection<Format, kRows>(u, rows, c, ahead);
}

/// Many rows: each section is unpacked once, and stays in the first-level cache. The next section is fetched while rows are
/// multiplied. Unpacking is too short for that: the processor would wait, and memory would be idle afterwards.
template <class Format>
HWY_NOINLINE void ManyRows(const BlockPanel& p) {
  using S = Style<Format>;
  UnpackedSection<Format> u;
  const BlockRow* rows = p.rows;
  Section<Format> section{p.panel, smaller(p.k, block_depth) / Format::group};
  for (std::size_t k = 0; k < p.k; rows += p.m) {
    u.groups = section.groups;
    u.scales.prepare(section.at, section.groups);
    for (std::size_t c = 0; c < 32; c += hn::Lanes(Ints())) {
      const std::uint8_t* from = section.lines(c / 16) + c % 16 * 4;
      for (std::size_t g = 0; g < section.groups; ++g, from += S::half_bytes) {
        ByteVec wide[S::wide];
        WideLines<Format>(from, wide);
        for (std::size_t w = 0; w < S::wide; ++w) StoreWide<Format>(wide[w], u.wide[g * S::wide + w], c * 4);
      }
    }
    k += section.groups * Format::group;
    // After the last section comes the first one of the next panel.
    section = {section.at + section.bytes(), smaller(k < p.k ? p.k - k : p.k, block_depth) / Format::group};
    const std::size_t passes = (p.m + kMostRows - 1) / kMostRows;
    Ahead ahead = Ahead::of(section.at, section.bytes(), passes * steps_of(u.groups));
    for (std::size_t i = 0, n; i < p.m; i += n) {
      if (ahead.at >= section.at + section.bytes()) ahead.lines = 0;  // all is fetched
      n = even_part(p.m - i, kMostRows);
      PartOfSection<Format, 1>(n, u, rows + i, p.c + i * 32, ahead);
    }
  }
}

template <class Format, std::size_t kRows>
void MultiplyRows(const BlockPanel& p) {
  if constexpr (kRows <= kFewRows<Format>) {
    if (p.m > kRows) return MultiplyRows<Format, kRows + 1>(p);
    FewRows<Format, kRows>(p);
  } else {
    ManyRows<Format>(p);
  }
}

/// The sums of q [n] over the first two of every four values, and over the others; n is a multiple of 16.
struct HalfSums {
  std::int32_t even, odd;
};
HWY_INLINE HalfSums SumHalves(const std::int8_t* q, std::size_t n) {
  // 128 is added to each value, since only unsigned bytes have such a sum.
  const hn::FixedTag<std::uint8_t, 16> d8;
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::FixedTag<std::uint64_t, 2> d64;
  const auto first_two = hn::BitCast(d8, hn::Set(d32, 0xffff));
  auto even = hn::Zero(d64), odd = hn::Zero(d64);
  for (std::size_t i = 0; i < n; i += 16) {
    const auto u = hn::Xor(hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(q + i)), hn::Set(d8, 128));
    even = hn::Add(even, hn::SumsOf8(hn::And(first_two, u)));
    odd = hn::Add(odd, hn::SumsOf8(hn::AndNot(first_two, u)));
  }
  const auto sum = [n](auto v) HWY_ATTR {
    const hn::FixedTag<std::uint64_t, 2> d;
    return static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(d, v))) - static_cast<std::int32_t>(64 * n);
  };
  return {sum(even), sum(odd)};
}

template <class Format>
void RoundRows(const RoundBlocks& b) {
  using S = Style<Format>;
  for (std::size_t k = 0; k < b.k; k += block_depth)
    for (std::size_t i = 0; i < b.m; ++i) {
      BlockRow& row = b.rows[k / block_depth * b.m + i];
      row.scale = RoundSection(b.x + i * b.stride + k, smaller(b.k - k, block_depth), row.q);
      for (std::size_t g = 0; g < S::groups; ++g) {
        // Of the lower and the upper 16 bits of a lane.
        const auto [even, odd] = SumHalves(row.q + g * Format::group, Format::group);
        row.starts[g] = S::pairs ? static_cast<std::int32_t>((static_cast<std::uint32_t>(-S::offset * even) & 0xffffU) |
                                                             static_cast<std::uint32_t>(-S::offset * odd) << 16)
                                 : -S::offset * (even + odd);
        if constexpr (Format::has_minimums || Format::has_block_minimums) {
          const auto sum = static_cast<std::uint32_t>(even + odd);
          row.pairs[g / 2] = static_cast<std::int32_t>(g % 2 ? static_cast<std::uint32_t>(row.pairs[g / 2]) | sum << 16
                                                             : sum & 0xffffU);
        }
      }
    }
}

/// Sets c to zero and calls add(the format's struct), which adds the products.
template <class F>
HWY_INLINE void FromZero(const BlockPanel& p, const F& add) {
  for (std::size_t i = 0; i < p.m * 32; ++i) p.c[i] = 0;
  WithFormat(p.format, add);
}

void MultiplyPanel(const BlockPanel& p) {
  FromZero(p, [&](auto format) { MultiplyRows<decltype(format), 1>(p); });
}

void RoundPanelRows(const RoundBlocks& b) {
  WithFormat(b.format, [&](auto format) { RoundRows<decltype(format)>(b); });
}
