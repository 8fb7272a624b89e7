// Packing, products and rows of weights in the blocks of files: see block_format.h. Each format is a struct in a file of its
// own, with the lines of a group and the scales of a section; the loops over them are in block_product-inl.h.
#include "kern/block_format.h"

#include "base/as_size.h"
#include "kern/ahead.h"
#include "kern/gemm_int8.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/block_products.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/amx_tiles-inl.h"
#include "kern/block_iq4_nl-inl.h"
#include "kern/block_iq4_xs-inl.h"
#include "kern/block_mxfp4-inl.h"
#include "kern/block_products-inl.h"
#include "kern/block_q4_0-inl.h"
#include "kern/block_q4_1-inl.h"
#include "kern/block_q4_k-inl.h"
#include "kern/block_q5_0-inl.h"
#include "kern/block_q5_1-inl.h"
#include "kern/block_q5_k-inl.h"
#include "kern/block_q6_k-inl.h"
#include "kern/block_q8_0-inl.h"
#include "kern/block_scales-inl.h"
#include "kern/fill-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// Calls f(the format's struct).
template <class F>
HWY_INLINE void WithFormat(BlockFormat format, const F& f) {
  switch (format) {
    case BlockFormat::none:
      return;
    case BlockFormat::q4_0:
      return f(Q4_0Blocks());
    case BlockFormat::q8_0:
      return f(Q8_0Blocks());
    case BlockFormat::q4_k:
      return f(Q4_KBlocks());
    case BlockFormat::q5_k:
      return f(Q5_KBlocks());
    case BlockFormat::q6_k:
      return f(Q6_KBlocks());
    case BlockFormat::iq4_xs:
      return f(IQ4_XSBlocks());
    case BlockFormat::mxfp4:
      return f(MXFP4Blocks());
    case BlockFormat::q4_1:
      return f(Q4_1Blocks());
    case BlockFormat::q5_0:
      return f(Q5_0Blocks());
    case BlockFormat::q5_1:
      return f(Q5_1Blocks());
    case BlockFormat::iq4_nl:
      return f(IQ4_NLBlocks());
  }
}

/// q [256] = x [n] / scale, rounded and padded with zeros; returns the scale.
HWY_INLINE float RoundSection(const float* x, std::size_t n, std::int8_t* q) {
  const float scale = QuantizeRow(x, n, q);  // pads to a multiple of 64
  const hn::ScalableTag<std::int8_t> d8;
  for (std::size_t i = int8_depth(n); i < block_depth; i += hn::Lanes(d8)) hn::StoreU(hn::Zero(d8), d8, q + i);
  return scale;
}

}  // namespace

namespace pairs {
namespace {
#define TRIL_BLOCK_FOURS 0
#include "kern/block_product-inl.h"
#undef TRIL_BLOCK_FOURS
}  // namespace
}  // namespace pairs

void multiply_block_panel(const BlockPanel& p) {
  pairs::MultiplyPanel(p);
}
void round_block_rows(const RoundBlocks& b) {
  pairs::RoundPanelRows(b);
}

namespace {

template <class Format>
bool pack_panel(const PackBlocks& p) {
  bool finite = true;
  constexpr std::size_t blocks_of_section = block_depth / Format::values, of_block = Format::values / Format::group;
  std::uint8_t* at = p.panel;
  static constexpr std::uint8_t zeros[Format::bytes] = {};
  for (std::size_t k = 0; k < p.k; k += block_depth) {
    const std::size_t groups = smaller(p.k - k, block_depth) / Format::group;
    std::uint8_t* const lines = at + Format::header(groups);
    for (std::size_t c = 0; c < 32; ++c)
      for (std::size_t g = 0; g < groups; ++g) {
        const std::uint8_t* const block =
            p.rows[c] ? p.rows[c] + (k / block_depth * blocks_of_section + g / of_block) * Format::bytes : zeros;
        if (g % of_block == 0) finite &= Format::is_finite(block);
        Format::pack(block, g, c, at, lines + ((c / 16 * groups + g) * Format::lines) * 64 + c % 16 * 4);
      }
    at = lines + 2 * groups * Format::lines * 64;
  }
  return finite;
}

bool pack_blocks(const PackBlocks& p) {
  bool finite = true;
  WithFormat(p.format, [&](auto format) HWY_ATTR { finite = pack_panel<decltype(format)>(p); });
  return finite;
}

// y [k] = scale * row j of the weight.
template <class Format>
void row_of_blocks(const QuantizedRight& b, std::size_t j, float scale, float* y) {
  const std::uint8_t* at = b.values + j / 32 * 32 * block_row_bytes(b.k, b.format);
  const std::size_t half = j % 32 / 16, lane = j % 16 * 4 % (hn::Lanes(Bytes()));
  const std::size_t skipped = j % 16 * 4 - lane;
  for (std::size_t k = 0; k < b.k; k += block_depth) {
    const std::size_t groups = smaller(b.k - k, block_depth) / Format::group;
    ReadyScales<Format, false> s;
    s.prepare(at, groups);
    const std::uint8_t* const lines = at + Format::header(groups);
    for (std::size_t g = 0; g < groups; ++g) {
      ByteVec wide[Format::group / 4];
      Format::unpack(lines + (half * groups + g) * Format::lines * 64 + skipped, wide);
      float factor, least = 0;
      if constexpr (Format::has_whole_scales)
        factor = s.d_of[j % 32] * static_cast<float>(s.whole[g][j % 32]);
      else
        factor = s.single[g][j % 32];
      if constexpr (Format::has_minimums) {
        const std::int32_t both = s.least[g / 2][j % 32];
        least = s.e_of[j % 32] * static_cast<float>(g % 2 ? both >> 16 : both & 0xffff);
      }
      if constexpr (Format::has_block_minimums) least = -s.block_minimums[g][j % 32];
      for (std::size_t p = 0; p < Format::group / 4; ++p) {
        HWY_ALIGN std::uint8_t bytes[hn::MaxLanes(Bytes())];
        hn::Store(wide[p], Bytes(), bytes);
        for (std::size_t i = 0; i < 4; ++i) {
          float value = factor * static_cast<float>(bytes[lane + i] - Format::offset);
          if constexpr (Format::has_minimums || Format::has_block_minimums) value -= least;
          y[k + g * Format::group + 4 * p + i] = scale * value;
        }
      }
    }
    at = lines + 2 * groups * Format::lines * 64;
  }
}

}  // namespace

void gather_blocks(const QuantizedRight& b, const std::int32_t* ids, float scale, float* y, std::size_t rows) {
  WithFormat(b.format, [&](auto format) HWY_ATTR {
    for (std::size_t i = 0; i < rows; ++i) row_of_blocks<decltype(format)>(b, as_size(ids[i]), scale, y + i * b.k);
  });
}

void fill_block_products(Kernels& k) {
  k.pack_blocks = pack_blocks;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if TRIL_FOUR_PRODUCTS
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#elif HWY_TARGET == HWY_AVX2
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avxvnni")
#elif defined(HWY_TARGET_STR)  // its functions are inlined, which takes their target's instructions too
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod" HWY_TARGET_STR)
#else
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")
#endif
namespace tril::kern::HWY_NAMESPACE {
namespace fours {
namespace {
#define TRIL_BLOCK_FOURS 1
#include "kern/block_product-inl.h"
#undef TRIL_BLOCK_FOURS
}  // namespace
}  // namespace fours

}  // namespace tril::kern::HWY_NAMESPACE
HWY_POP_ATTRIBUTES

#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni,amx-tile,amx-int8")
namespace tril::kern::HWY_NAMESPACE {
namespace fours {
namespace {
#include "kern/block_tiles-inl.h"
}  // namespace
}  // namespace fours

}  // namespace tril::kern::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif

// Not among the functions above: declared without those instructions and defined with them, they would be two functions for GCC.
HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

void multiply_block_panel_fours(const BlockPanel& p) {
  fours::MultiplyPanel(p);
}
void round_block_rows_fours(const RoundBlocks& b) {
  fours::RoundPanelRows(b);
}
#if HWY_TARGET == HWY_AVX3
void multiply_block_panel_tiles(const BlockPanel& p) {
  fours::MultiplyPanelInTiles(p);
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
