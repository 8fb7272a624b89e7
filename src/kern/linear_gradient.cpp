// For 256 tokens at a time, dz is computed in blocks of 32 x 32 and packed twice, as the left operand of dz W and,
// transposed, of dz^T x; then both products sweep over it.
#include "kern/linear_gradient.h"

#include <type_traits>

#include "base/rng.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/linear_gradient.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/fill-inl.h"
#include "kern/gemm_bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// The places of the operands of `tokens` tokens in the scratch.
struct Operands {
  std::uint16_t *along, *down, *x;  ///< dz [tokens, out], dz^T [out, tokens], x [tokens, in]
  std::uint16_t* sweeping;
  std::size_t out_tiles, token_tiles;

  Operands(const LinearGradient& g, std::size_t tokens)
      : out_tiles(tiles_of(g.out, 32)), token_tiles(tiles_of(tokens, 32)) {
    const std::size_t most = smaller(g.tokens, linear_gradient_tokens);
    along = AlignedUp(g.scratch);
    down = along + packed_left_values(most, g.out);
    x = down + packed_left_values(g.out, most);
    sweeping = x + packed_right_values(most, g.in);
  }
};

/// Computes dz [32, 32] at (row, col), padded with zeros, and adds its column sums to db.
template <class F, bool kDrops>
HWY_INLINE void BlockOfDz(const LinearGradient& g, const Drop& drop, std::size_t row, std::size_t col,
                          float* HWY_RESTRICT dz) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d), rows = smaller(g.tokens - row, 32);
  const std::size_t first = row % linear_dropout_rows * g.out + col;
  for (std::size_t j = 0; j < 32; j += lanes) {
    const std::size_t n = col + j < g.out ? smaller(g.out - col - j, lanes) : 0;
    Vec sum = hn::Zero(d);
    const auto column = [&](auto io) HWY_ATTR {
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t at = (row + i) * g.out + col + j;
        Vec v = io.load(g.dy + at);
        if constexpr (kDrops) v = drop(v, first + i * g.out + j);
        if constexpr (!std::is_same_v<F, Identity>) v = hn::Mul(v, F::both(io.load(g.saved + at)).slope);
        sum = hn::Add(sum, v);
        hn::Store(v, d, dz + i * 32 + j);
      }
      if (g.db && n > 0) io.store(hn::Add(io.load(g.db + col + j), sum), g.db + col + j);
    };
    if (n == lanes)
      column(Whole());
    else if (n > 0)
      column(Part{n});
    for (std::size_t i = n > 0 ? rows : 0; i < 32; ++i) hn::Store(hn::Zero(d), d, dz + i * 32 + j);
  }
}

/// Computes dz of tokens [begin, begin + tokens), packed both ways.
template <class Isa, class F, bool kDrops>
void pack_dz(const LinearGradient& g, std::size_t begin, std::size_t tokens, const Operands& to) {
  HWY_ALIGN float dz[32 * 32];
  for (std::size_t i = 0; i < tokens; i += 32) {
    Dropout of_rows = g.dropout;
    if (kDrops) of_rows.key = sub_key(of_rows.key, (begin + i) / linear_dropout_rows);
    const Drop drop(of_rows);
    for (std::size_t j = 0; j < g.out; j += 32) {
      BlockOfDz<F, kDrops>(g, drop, begin + i, j, dz);
      std::uint16_t* const along = to.along + (i / 16 * to.out_tiles + j / 32) * tile_values;
      std::uint16_t* const down = to.down + (j / 16 * to.token_tiles + i / 32) * tile_values;
      if (g.dx) {
        for (std::size_t r = 0; r < 32; ++r)
          Isa::pack_row(dz + r * 32, 32, 1, along + r / 16 * to.out_tiles * tile_values + r % 16 * 32);
      }
      for (std::size_t half = 0; half < 2 && g.dw; ++half) {
        std::uint16_t* const tile = down + half * to.token_tiles * tile_values;
        Isa::pack_pairs(dz + half * 16, 32, 32, 16, tile);
        Isa::transpose_tile(tile);
      }
    }
  }
}

/// C = A B over `deep` tiles of columns, in groups of rows, so that the current part of A stays in the second-level
/// cache.
template <class Isa>
HWY_INLINE void SweepAll(const PackedGemm& g, const std::uint16_t* a, std::size_t deep, bool add,
                         std::uint16_t* scratch) {
  for (std::size_t m0 = 0; m0 < g.m; m0 += packed_gemm_rows)
    Sweep<Isa>(g, {a + m0 / 16 * deep * tile_values, deep, m0, smaller(g.m - m0, packed_gemm_rows), 0, add, true},
               scratch);
}

template <class Isa>
void gradient(const LinearGradient& g) {
  Isa::begin();
  // In equal parts: each costs one read and one write of dW.
  const std::size_t parts = larger(tiles_of(g.tokens, linear_gradient_tokens), 1);
  const std::size_t part = larger(tiles_of(tiles_of(g.tokens, parts), 32), 1) * 32;
  for (std::size_t begin = 0; begin == 0 || begin < g.tokens; begin += part) {
    const std::size_t tokens = smaller(g.tokens - begin, part);
    const Operands packed(g, tokens);
    WithActivation(g.saved ? g.activation : Activation::none, [&](auto f) HWY_ATTR {
      if (g.dropout.p > 0)
        pack_dz<Isa, decltype(f), true>(g, begin, tokens, packed);
      else
        pack_dz<Isa, decltype(f), false>(g, begin, tokens, packed);
    });
    if (g.dw) {
      PackRightOf<Isa>({g.x + begin * g.x_stride, g.x_stride, tokens, g.in, false, packed.x});
      PackedGemm dw{.m = g.out, .n = g.in, .k = tokens, .b = packed.x, .c = g.dw, .c_stride = g.in};
      SweepAll<Isa>(dw, packed.down, packed.token_tiles, g.add_dw || begin > 0, packed.sweeping);
    }
    if (g.dx) {
      PackedGemm dx{.m = tokens,
                    .n = g.in,
                    .k = g.out,
                    .b = g.w,
                    .c = g.dx + begin * g.dx_stride,
                    .c_stride = g.dx_stride,
                    .stream = g.stream_dx};
      SweepAll<Isa>(dx, packed.along, packed.out_tiles, g.add_dx, packed.sweeping);
    }
  }
  Isa::end();
}

}  // namespace

void fill_linear_gradient(Kernels& k) {
  k.linear_gradient = gradient<Emulated>;
}

#if HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS
void fill_linear_gradient_pairs(Kernels& k) {
  k.linear_gradient = gradient<PairProducts>;
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_linear_gradient_tiles(Kernels& k) {
  k.linear_gradient = gradient<TileProducts>;
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
