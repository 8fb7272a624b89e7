// Shared by products with packed operands: finishing blocks of C, and the sweep of packed rows over panels of B.
// Included once for each instruction set.
#if defined(TRIL_KERN_GEMM_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_KERN_GEMM_BF16_INL_H_
#undef TRIL_KERN_GEMM_BF16_INL_H_
#else
#define TRIL_KERN_GEMM_BF16_INL_H_
#endif

#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kern/activation-inl.h"
#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/blocks_neon-inl.h"
#include "kern/compact_bf16-inl.h"
#include "kern/dropout-inl.h"
#include "kern/math-inl.h"
#include "kern/wide_operands-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {

/// A block of C: its position and its size.
struct Block {
  std::size_t row, col, rows, cols;
};

/// The operations on the sums of a block, in `tile` [32, 32]; the pointers are to row 0, column 0 of the block.
struct Tail {
  const float *bias, *residual;
  float *z, *c;
  std::size_t stride, n;
  std::size_t first;  ///< index of the block's first value in the dropout stream
};

template <class F, bool kDrops, bool kStreams>
HWY_INLINE void FinishBlock(const Tail& t, std::size_t rows, std::size_t cols, const float* HWY_RESTRICT tile,
                            const Drop& drop, F f) {
  const float *const bias = t.bias, *const residual = t.residual;
  float *const z = t.z, *const c = t.c;
  const std::size_t stride = t.stride, n = t.n, first = t.first;
  const auto put = [](Vec v, float* to, auto io) HWY_ATTR {
    if constexpr (kStreams)
      hn::Stream(v, Floats(), to);
    else
      io.store(v, to);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    ForEach(cols, [=](std::size_t j, auto io) HWY_ATTR {
      const std::size_t at = i * stride + j;
      Vec s = hn::Load(Floats(), tile + i * 32 + j);
      if (bias) s = hn::Add(s, io.load(bias + j));
      if (z) put(s, z + at, io);
      Vec y = f.value(s);
      if constexpr (kDrops) y = drop(y, first + i * n + j);
      if (residual) y = hn::Add(y, io.load(residual + at));
      put(y, c + at, io);
    });
  }
}

HWY_INLINE bool StartsLine(const float* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 64 == 0;
}

/// True if g's sums are changed before they are stored.
HWY_INLINE bool HasTail(const PackedGemm& g) {
  return g.bias || g.residual || g.z || g.activation != Activation::none || g.dropout.p > 0;
}

/// Finishes the block at (row, col): with g's tail after the last columns of A, as plain sums before.
HWY_INLINE void Finish(const PackedGemm& g, const Block& at, bool last, bool streams, const float* tile) {
  const std::size_t begin = at.row * g.c_stride + at.col;
  Tail t{nullptr, nullptr, nullptr, g.c + begin, g.c_stride, g.n, at.row * g.n + at.col};
  const Drop drop(g.dropout);
  // The common sizes as constants: a row of a whole block is two vectors of AVX-512.
  const auto finish = [&](auto f, auto drops) HWY_ATTR {
    if (at.cols == 32 && streams)
      FinishBlock<decltype(f), drops, true>(t, at.rows, 32, tile, drop, f);
    else if (at.cols == 32)
      FinishBlock<decltype(f), drops, false>(t, at.rows, 32, tile, drop, f);
    else
      FinishBlock<decltype(f), drops, false>(t, at.rows, at.cols, tile, drop, f);
  };
  if (!last) return finish(Identity(), std::false_type());
  if (g.bias) t.bias = g.bias + at.col;
  if (g.residual) t.residual = g.residual + begin;
  if (g.z) t.z = g.z + begin;
  WithActivation(g.activation, [&](auto f) HWY_ATTR {
    if (g.dropout.p > 0)
      finish(f, std::true_type());
    else
      finish(f, std::false_type());
  });
}

/// Copies a block of C at c to `tile`, padded with zeros to a whole one.
HWY_INLINE void Fetch(const Block& at, const float* c, std::size_t stride, float* HWY_RESTRICT tile) {
  for (std::size_t i = 0; i < at.rows; ++i) {
    ForEach(at.cols, [=](std::size_t j, auto io)
                         HWY_ATTR { hn::Store(io.load(c + i * stride + j), Floats(), tile + i * 32 + j); });
  }
}

/// Packed rows of A, each `deep` tiles of columns, from row m0 and column k0 of A.
struct PackedRows {
  const std::uint16_t* a;
  std::size_t deep, m0, rows, k0;
  bool add;   ///< the sums continue from C
  bool last;  ///< g's tail is applied
};

// Where a sweep finds the panels of B.

/// B is packed.
struct PackedPanels {
  const std::uint16_t* b;
  std::size_t depth;  ///< pairs of tiles of a panel

  HWY_INLINE PanelTiles operator()(const PanelRange& r) const {
    const std::size_t next = depth * 2 * tile_values;
    return {b + r.panel * next + r.first * 2 * tile_values, next, r.deep, r.panels};
  }
};

/// B is compact, and is unpacked for many rows.
struct UnpackedPanels {
  CompactRight b;
  std::size_t depth;
  std::uint16_t* space;  ///< sweep_unpacked values

  HWY_INLINE PanelTiles operator()(const PanelRange& r) const {
    constexpr std::size_t next = sweep_deep * 2 * tile_values;
    for (std::size_t i = 0; i < r.panels; ++i)
      UnpackTiles(b.from_tile(((r.panel + i) * depth + r.first) * 2), r.deep * 2, space + i * next);
    return {space, next, r.deep, r.panels};
  }
};

/// B is compact, and few rows read one panel after the other.
struct CompactPanels {
  CompactRight b;
  std::size_t depth;

  HWY_INLINE CompactPanel operator()(const PanelRange& r) const {
    return {b.from_tile((r.panel * depth + r.first) * 2), r.deep};
  }
};

/// Few rows, and a compact panel.
template <class Isa>
class CompactOperands {
 public:
  static constexpr std::size_t few_rows = CompactProduct<Isa>::most_rows;
  void take(const CompactPanel& panel) { panel_ = panel; }
  void take(const RowTiles& rows) { rows_ = rows; }
  void multiply(std::size_t, const Sums& c) const { CompactProduct<Isa>::multiply(rows_, panel_, c); }

 private:
  CompactPanel panel_;
  RowTiles rows_;
};

/// The operands of a sweep as they are packed.
template <class Isa>
class PackedOperands {
 public:
  static constexpr std::size_t few_rows = kFewRows;
  void take(const PanelTiles& panels) { panels_ = panels; }
  void take(const RowTiles& rows) { rows_ = rows; }
  void multiply(std::size_t panel, const Sums& c) const {
    Isa::block(rows_.tiles, rows_.next, panels_.tiles + panel * panels_.next, panels_.deep, rows_.rows, c);
  }

 private:
  PanelTiles panels_;
  RowTiles rows_;
};

/// C's rows m0 ... = A B over the packed columns, where `panels` finds those of B. If C is streamed, incomplete sums wait in `sums`,
/// because streaming stores to a cached line are slow; otherwise in C itself.
template <class Operands, class Panels>
HWY_INLINE void SweepOver(const PackedGemm& g, const PackedRows& p, const Panels& panels, Operands operands,
                          float* sums) {
  struct Waiting {
    Block at;
    bool last;
  };
  HWY_ALIGN float tiles[2][32 * 32] = {};
  int turn = 0;
  bool waiting = false;
  Waiting before{};
  const bool streams = g.stream && p.last && !p.add && StartsLine(g.c) && StartsLine(g.z) && g.c_stride % 16 == 0;
  const bool through_tile = HasTail(g) || streams;
  // Few rows read B once, panel by panel.
  const bool few = p.rows <= Operands::few_rows;
  const std::size_t columns = few ? 32 : sweep_columns, most_deep = few && p.deep > 0 ? p.deep : sweep_deep;
  for (std::size_t group = 0; group < g.n; group += columns)
    for (std::size_t l = 0; l < p.deep || l == 0; l += most_deep) {
      const std::size_t deep = smaller(p.deep - l, most_deep);
      const bool first = !p.add && l == 0, finishes = p.last && l + deep == p.deep;
      operands.take(panels({group / 32, p.k0 / 32 + l, deep, tiles_of(smaller(g.n - group, columns), 32)}));
      for (std::size_t i = 0; i < p.rows; i += 32) {
        operands.take(RowTiles{p.a + (i / 16 * p.deep + l) * tile_values, p.deep, deep, smaller(p.rows - i, 32)});
        for (std::size_t n0 = group; n0 < g.n && n0 < group + columns; n0 += 32) {
          const Block at{p.m0 + i, n0, smaller(p.rows - i, 32), smaller(g.n - n0, 32)};
          float* const tile = tiles[turn];
          float* c = g.c + at.row * g.c_stride + at.col;
          std::size_t stride = g.c_stride;
          const bool whole = at.rows == 32 && at.cols == 32;
          if (whole && streams) c = sums + i * sweep_columns + (n0 - group), stride = sweep_columns;
          const bool in_place = whole && !(finishes && through_tile);
          Sums s{first ? nullptr : c, stride, in_place ? c : tile, in_place ? stride : 32};
          if (waiting && before.at.row == at.row && before.at.col == at.col) {  // the same block, one step deeper
            Finish(g, before.at, before.last, streams, tiles[1 - turn]);
            waiting = false;
          }
          if (!whole && !first) {
            Fetch(at, c, stride, tile);
            s.from = tile, s.from_stride = 32;
          }
          operands.multiply((n0 - group) / 32, s);
          // The previous block is finished while this one is being multiplied.
          if (waiting) Finish(g, before.at, before.last, streams, tiles[1 - turn]);
          waiting = !in_place;
          if (waiting) before = {at, finishes}, turn = 1 - turn;
        }
      }
    }
  if (waiting) Finish(g, before.at, before.last, streams, tiles[1 - turn]);
  if (streams) hwy::FlushStream();
}

/// @param scratch  sweep_scratch(p.rows) values, at the beginning of a cache line; with a compact B, sweep_unpacked more
template <class Isa>
HWY_INLINE void Sweep(const PackedGemm& g, const PackedRows& p, std::uint16_t* scratch) {
  auto* const space = reinterpret_cast<float*>(scratch);
  float* const sums = space + sweep_wide;
  const std::size_t depth = tiles_of(g.k, 32);
  static_assert(CompactOperands<Isa>::few_rows >= PackedOperands<Isa>::few_rows,
                "few rows would read whole panels of a group");
  if (g.compact && p.rows <= CompactOperands<Isa>::few_rows)
    return SweepOver(g, p, CompactPanels{g.compact, depth}, CompactOperands<Isa>(), sums);
  const auto sweep = [&](const auto& panels) HWY_ATTR {
    if constexpr (std::is_same_v<Isa, Emulated>)
      if (p.rows > 32) return SweepOver(g, p, panels, WideOperands(space), sums);  // fewer read a panel once or twice
    SweepOver(g, p, panels, PackedOperands<Isa>(), sums);
  };
  if (g.compact)
    sweep(UnpackedPanels{g.compact, depth, scratch + sweep_scratch(p.rows)});
  else
    sweep(PackedPanels{g.b, depth});
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TRIL_KERN_GEMM_BF16_INL_H_
