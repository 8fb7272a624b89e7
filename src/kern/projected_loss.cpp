// With z = x W^T + b, eps the smoothing and V words:
//   lse_i = log sum_v exp z_iv      loss_i = w_i (lse_i - (1 - eps) z_it - eps / V sum_v z_iv)
//   dz_iv = s w_i (exp(z_iv - lse_i) - (1 - eps) [v = t] - eps / V)      dx = dz W      dW = dz^T x      db = sum_i dz_i
// With a soft cap z = cap tanh((x W^T + b) / cap), and dx, dW and db get dz (1 - (z / cap)^2).
// Forward: strips of 512 rows pass by each panel of W; a row's sums are kept per lane of a vector and joined at the
// end. Exponents are taken relative to a shift, which need not be the maximum because floats have a wide range: the
// shift changes only if a logit comes near the end of that range. Backward: for 256 columns, dz is computed 32 x 32
// values at a time and packed as the left operand of both products.
#include "kern/projected_loss.h"

#include <cmath>
#include <utility>

#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/projected_loss.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/bf16-inl.h"
#include "kern/bf16_avx512-inl.h"
#include "kern/blocks_neon-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// The parts of a call's scratch.
struct Space {
  std::uint16_t *x_left, *x_right, *dz_down, *dz_along;
  float *highest, *sum, *total, *shift;  ///< per row: 16 lanes, except one value for the shift

  explicit Space(const ProjectedCrossEntropy& p) {
    std::uint16_t* at = AlignedUp(p.scratch);
    const auto take = [&at](std::size_t values) { return std::exchange(at, at + values); };
    x_left = take(packed_left_values(projected_loss_rows, p.d));
    x_right = take(packed_right_values(projected_loss_rows, p.d));
    dz_down = take(packed_left_values(projected_loss_cols, projected_loss_rows));
    dz_along = take(packed_left_values(32, projected_loss_cols));
    highest = reinterpret_cast<float*>(take(2 * projected_loss_strip * 16));
    sum = reinterpret_cast<float*>(take(2 * projected_loss_strip * 16));
    total = reinterpret_cast<float*>(take(2 * projected_loss_strip * 16));
    shift = reinterpret_cast<float*>(take(2 * projected_loss_strip));
  }
};

/// The state of a row's logits: per lane the largest, their sum, and the sum of e^(z - shift).
struct Seen {
  float *highest, *total, *sum, *shift;
};

/// The largest allowed distance of a logit above the shift: e^44 < 2^64, so the sum over any vocabulary stays far
/// below 2^127.
constexpr float kHeadroom = 44;

/// Adds the logits z + bias to the row's sums, in one pass. The shift stays unless a logit comes near the end of
/// float32's range above it; then the shift becomes the maximum, and the exponentials are recomputed.
HWY_INLINE void TakeIn(const float* HWY_RESTRICT z, const float* HWY_RESTRICT bias, std::size_t cols,
                       const Seen& seen) {
  const Floats d;
  const Vec scale = hn::Set(d, log2_e), zero = hn::Zero(d), lowest = hn::Set(d, -HUGE_VALF);
  const Vec sum = hn::Load(d, seen.sum), shift = hn::Set(d, *seen.shift);
  Vec highest = hn::Load(d, seen.highest), total = hn::Load(d, seen.total), more = zero;
  ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec logit = hn::Add(hn::Load(d, z + j), hn::Load(d, bias + j));
    highest = LargerOf(io.or_else(logit, lowest), highest);
    total = hn::Add(total, io.or_else(logit, zero));
    more = hn::Add(more, io.or_else(FastExp2(d, hn::Mul(hn::Sub(logit, shift), scale)), zero));
  });
  hn::Store(highest, d, seen.highest);
  hn::Store(total, d, seen.total);
  if (hn::AllTrue(d, hn::Lt(hn::Sub(highest, shift), hn::Set(d, kHeadroom))))
    return hn::Store(hn::Add(sum, more), d, seen.sum);

  const float top = hn::GetLane(hn::MaxOfLanes(d, highest));
  if (top == -HUGE_VALF) return;  // only impossible words so far
  *seen.shift = top;
  const Vec higher = hn::Set(d, top);
  more = zero;
  ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec logit = hn::Add(hn::Load(d, z + j), hn::Load(d, bias + j));
    more = hn::Add(more, io.or_else(FastExp2(d, hn::Mul(hn::Sub(logit, higher), scale)), zero));
  });
  hn::Store(hn::MulAdd(sum, FastExp2(d, hn::Mul(hn::Sub(shift, higher), scale)), more), d, seen.sum);
}

/// Columns of logits per visit of a row.
constexpr std::size_t kGroup = 128;

/// Loads the biases of `width` columns; zeros if there are none, and beyond the last.
HWY_INLINE void LoadBias(const float* bias, std::size_t width, std::size_t padded, float* to) {
  for (std::size_t j = 0; j < padded; ++j) to[j] = bias && j < width ? bias[j] : 0.0f;
}

HWY_INLINE void AddAndCap(float softcap, const float* bias, std::size_t width, float* z) {
  const Floats d;
  const Softcap cap(softcap);
  for (std::size_t j = 0; j < width; j += hn::Lanes(d))
    hn::Store(cap(hn::Add(hn::Load(d, z + j), hn::Load(d, bias + j))), d, z + j);
}

template <class Isa>
void strip_forward(const ProjectedCrossEntropy& p, std::size_t begin, std::size_t rows, const Space& space,
                   float* losses) {
  const Floats d;
  const std::size_t depth = tiles_of(p.d, 32);
  HWY_ALIGN float group[32 * kGroup];
  HWY_ALIGN float bias[kGroup];
  HWY_ALIGN const float zeros[kGroup] = {};
  const float* const still_to_add = p.softcap > 0 ? zeros : bias;
  for (std::size_t i = 0; i < rows * 16; ++i) space.highest[i] = -HUGE_VALF, space.sum[i] = space.total[i] = 0;
  for (std::size_t i = 0; i < rows; ++i) space.shift[i] = -HUGE_VALF;
  PackLeft<Isa>(p.x + begin * p.x_stride, p.x_stride, rows, p.d, space.x_left);
  Isa::begin();
  for (std::size_t v0 = 0; v0 < p.vocab; v0 += kGroup) {
    const std::size_t width = smaller(kGroup, p.vocab - v0);
    LoadBias(p.bias ? p.bias + v0 : nullptr, width, kGroup, bias);
    for (std::size_t i = 0; i < rows; i += 32) {
      const std::size_t count = smaller(32, rows - i);
      for (std::size_t v = 0; v < width; v += 32)
        Isa::block(space.x_left + i / 16 * depth * tile_values, depth, p.w + (v0 + v) / 32 * depth * 2 * tile_values,
                   depth, count, {nullptr, 0, group + v, kGroup});
      if (p.softcap > 0)
        for (std::size_t r = 0; r < count; ++r) AddAndCap(p.softcap, bias, width, group + r * kGroup);
      for (std::size_t r = 0; r < count; ++r) {
        const float* const z = group + r * kGroup;
        const std::size_t at = (i + r) * 16;
        TakeIn(z, still_to_add, width, {space.highest + at, space.total + at, space.sum + at, space.shift + i + r});
        const std::size_t target = static_cast<std::size_t>(p.loss.targets[begin + i + r]) - v0;
        if (target < width) losses[begin + i + r] = z[target] + still_to_add[target];
      }
    }
  }
  Isa::end();
  const float smooth = p.loss.eps / static_cast<float>(p.vocab);
  for (std::size_t i = 0; i < rows; ++i) {
    const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, space.sum + i * 16)));
    const float total = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, space.total + i * 16)));
    const auto lse = space.shift[i] + logf(sum);
    const std::size_t row = begin + i;
    p.lse[row] = lse;
    const float weight = p.loss.weights ? p.loss.weights[row] : 1.0f;
    const float of_all = smooth > 0 ? smooth * total : 0.0f;  // without smoothing, words may be arbitrarily unlikely
    losses[row] =
        p.loss.targets[row] == p.loss.ignore ? 0.0f : weight * (lse - (1 - p.loss.eps) * losses[row] - of_all);
  }
}

template <class Isa>
void forward(const ProjectedCrossEntropy& p, float* losses) {
  const Space space(p);
  for (std::size_t i = 0; i < p.rows; i += projected_loss_strip)
    strip_forward<Isa>(p, i, smaller(projected_loss_strip, p.rows - i), space, losses);
}

/// The factors of 32 rows' gradients: dz = scale (e^(z - lse) - [v = target] (1 - eps) - eps / V). Ignored rows
/// have a scale of zero and no target.
struct LossRows {
  float lse[32], scale[32];
  std::int32_t target[32];
  float hit, smooth;  ///< 1 - eps, eps / V

  LossRows(const ProjectedCrossEntropy& p, std::size_t begin, std::size_t count)
      : hit(1 - p.loss.eps), smooth(p.loss.eps / static_cast<float>(p.vocab)) {
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t row = begin + i;
      const bool counts = i < count && p.loss.targets[row] != p.loss.ignore;
      lse[i] = counts ? p.lse[row] : 0;
      scale[i] = counts ? p.loss.gradient_scale * (p.loss.weights ? p.loss.weights[row] : 1.0f) : 0;
      target[i] = counts ? p.loss.targets[row] : -1;
    }
  }

  bool any_in(std::size_t col, std::size_t cols) const {
    std::size_t found = 0;
    for (const std::int32_t t : target) found += static_cast<std::size_t>(t) - col < cols;
    return found > 0;
  }
};

/// Turns the sums at `tile` [32, 32], for `cols` columns of logits from `col`, into the logits' gradient, zero
/// beyond rows and columns, and adds its column sums to db.
/// @tparam kHit  a row's target is among the columns
template <bool kCapped, bool kHit>
HWY_INLINE void Gradient(const LossRows& rows, const float* HWY_RESTRICT bias, float softcap, std::size_t col,
                         std::size_t cols, float* HWY_RESTRICT tile, float* db) {
  const Floats d;
  const Vec smooth = hn::Set(d, rows.smooth), hit = hn::Set(d, rows.hit), log2e = hn::Set(d, log2_e);
  const auto column = [&](std::size_t j, auto io) HWY_ATTR {
    const Vec add = hn::Load(d, bias + j);
    Vec sum = hn::Zero(d);
    for (std::size_t i = 0; i < 32; ++i) {
      float* const z = tile + i * 32 + j;
      if (rows.scale[i] == 0) {
        hn::Store(hn::Zero(d), d, z);
        continue;
      }
      Vec logit = hn::Add(hn::Load(d, z), add);
      if constexpr (kCapped) logit = Softcap(softcap)(logit);
      Vec g = hn::Sub(FastExp2(d, hn::Mul(hn::Sub(logit, hn::Set(d, rows.lse[i])), log2e)), smooth);
      if constexpr (kHit) {
        const hn::RebindToSigned<Floats> words;
        const auto here = hn::Eq(hn::Iota(words, static_cast<std::int32_t>(col + j)), hn::Set(words, rows.target[i]));
        g = hn::Sub(g, hn::IfThenElseZero(hn::RebindMask(d, here), hit));
      }
      if constexpr (kCapped) g = hn::Mul(g, Softcap(softcap).slope(logit));
      g = io.or_else(hn::Mul(g, hn::Set(d, rows.scale[i])), hn::Zero(d));
      sum = hn::Add(sum, g);
      hn::Store(g, d, z);
    }
    if (db) io.store(hn::Add(io.load(db + col + j), sum), db + col + j);
  };
  ForEach(cols, column);
  for (std::size_t j = tiles_of(cols, hn::Lanes(d)) * hn::Lanes(d); j < 32; j += hn::Lanes(d))
    for (std::size_t i = 0; i < 32; ++i) hn::Store(hn::Zero(d), d, tile + i * 32 + j);
}

HWY_INLINE void Gradient(const LossRows& rows, const float* bias, float softcap, std::size_t col, std::size_t cols,
                         float* tile, float* db) {
  if (softcap > 0) return Gradient<true, true>(rows, bias, softcap, col, cols, tile, db);
  if (rows.any_in(col, cols)) return Gradient<false, true>(rows, bias, softcap, col, cols, tile, db);
  Gradient<false, false>(rows, bias, softcap, col, cols, tile, db);
}

/// The destination of a product's rows and columns.
struct Place {
  float* at;
  std::size_t stride;
  bool add;
};

/// Writes the product of two packed blocks to its place: directly if it is a whole 32 x 32 block, else through `tile`.
template <class Isa>
HWY_INLINE void Put(const std::uint16_t* left, std::size_t row_tiles, const std::uint16_t* right, std::size_t depth,
                    std::size_t rows, std::size_t cols, const Place& to, float* tile) {
  const bool whole = rows == 32 && cols == 32;
  Isa::block(left, row_tiles, right, depth, rows,
             whole ? Sums{to.add ? to.at : nullptr, to.stride, to.at, to.stride} : Sums{nullptr, 0, tile, 32});
  if (!whole) PutTile(tile, rows, cols, to.at, to.stride, to.add);
}

template <class Isa>
void rows_backward(const ProjectedCrossEntropy& p, const ProjectedGradients& g, std::size_t begin, std::size_t rows,
                   const Space& space) {
  const std::size_t depth = tiles_of(p.d, 32), down = tiles_of(rows, 32), words = tiles_of(p.vocab, 32);
  HWY_ALIGN float tile[32 * 32] = {};
  HWY_ALIGN float bias[projected_loss_cols];
  const float* const x = p.x + begin * p.x_stride;
  PackLeft<Isa>(x, p.x_stride, rows, p.d, space.x_left);
  if (g.dw)
    PackRightOf<Isa>({.b = x, .stride = p.x_stride, .k = rows, .n = p.d, .transposed = false, .packed = space.x_right});
  Isa::begin();
  for (std::size_t v0 = 0; v0 < p.vocab; v0 += projected_loss_cols) {
    const std::size_t width = smaller(projected_loss_cols, p.vocab - v0), along = tiles_of(width, 32);
    LoadBias(p.bias ? p.bias + v0 : nullptr, width, projected_loss_cols, bias);
    for (std::size_t i = 0; i < rows; i += 32) {
      const std::size_t count = smaller(32, rows - i);
      const LossRows loss(p, begin + i, count);
      for (std::size_t l = 0; l < along; ++l) {
        const std::size_t v = v0 + l * 32;
        Isa::block(space.x_left + i / 16 * depth * tile_values, depth, p.w + v / 32 * depth * 2 * tile_values, depth,
                   count, {nullptr, 0, tile, 32});
        Gradient(loss, bias + l * 32, p.softcap, v, smaller(32, p.vocab - v), tile, g.db);
        for (std::size_t r = 0; r < 32 && g.dx; ++r)
          Isa::pack_row(tile + r * 32, 32, 1, space.dz_along + (r / 16 * along + l) * tile_values + r % 16 * 32);
        for (std::size_t half = 0; half < 2 && g.dw; ++half) {
          std::uint16_t* const to = space.dz_down + ((l * 2 + half) * down + i / 32) * tile_values;
          Isa::pack_pairs(tile + half * 16, 32, 32, 16, to);
          Isa::transpose_tile(to);
        }
      }
      for (std::size_t j = 0; j < p.d && g.dx; j += 32) {
        const std::uint16_t* const w = p.w_transposed + (j / 32 * words + v0 / 32) * 2 * tile_values;
        Put<Isa>(space.dz_along, along, w, along, count, smaller(32, p.d - j),
                 {g.dx + (begin + i) * g.dx_stride + j, g.dx_stride, v0 > 0 || g.accumulate_x}, tile);
      }
    }
    for (std::size_t j = 0; j < p.d && g.dw; j += 32) {
      const std::uint16_t* const right = space.x_right + j / 32 * down * 2 * tile_values;
      for (std::size_t v = 0; v < width; v += 32) {
        const std::size_t count = smaller(32, width - v);
        Put<Isa>(space.dz_down + v / 16 * down * tile_values, down, right, down, count, smaller(32, p.d - j),
                 {g.dw + (v0 + v) * p.d + j, p.d, begin > 0 || g.accumulate_w}, tile);
      }
    }
  }
  Isa::end();
}

template <class Isa>
void backward(const ProjectedCrossEntropy& p, const ProjectedGradients& g) {
  const Space space(p);
  for (std::size_t i = 0; i < p.rows; i += projected_loss_rows)
    rows_backward<Isa>(p, g, i, smaller(projected_loss_rows, p.rows - i), space);
  for (std::size_t i = 0; p.rows == 0 && g.dw && !g.accumulate_w && i < p.vocab * p.d; ++i) g.dw[i] = 0;
}

template <class Isa>
void fill(Kernels& k) {
  k.projected_cross_entropy = forward<Isa>;
  k.projected_cross_entropy_backward = backward<Isa>;
}

}  // namespace

void fill_projected_loss(Kernels& k) {
  fill<Emulated>(k);
}
#if HWY_TARGET == HWY_AVX3 || TRIL_ARM_PRODUCTS
void fill_projected_loss_pairs(Kernels& k) {
  fill<PairProducts>(k);
}
#endif
#if HWY_TARGET == HWY_AVX3
void fill_projected_loss_tiles(Kernels& k) {
  fill<TileProducts>(k);
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
