// With z = x W^T + b, eps the smoothing and V words:
//   lse_i = log sum_v exp z_iv      loss_i = w_i (lse_i - (1 - eps) z_it - eps / V sum_v z_iv)
//   dz_iv = s w_i (exp(z_iv - lse_i) - (1 - eps) [v = t] - eps / V)      dx = dz W      dW = dz^T x      db = sum_i dz_i
// With a soft cap z = cap tanh((x W^T + b) / cap), and what goes to dx, dW and db is dz (1 - (z / cap)^2).
// Forward: strips of 256 rows pass by each panel of W; a row's maximum and sums are kept by the lanes of a vector and joined
// at the end. Backward: for 256 columns, dz is made 32 x 32 values at a time, packed as the left operand of both products.
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
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/softcap-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// The scratch of a call, cut up.
struct Space {
  std::uint16_t *x_left, *x_right, *dz_down, *dz_along;
  float *highest, *sum, *total;  ///< [strip][16 lanes]: of each row

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
  }
};

/// 32 rows by 32 columns of logits: the tile's sums with the bias.
struct LogitBlock {
  std::size_t row, col, rows, cols;
  float* tile;
};

HWY_INLINE void AddBias(const LogitBlock& b, const float* bias) {
  if (!bias) return;
  for (std::size_t i = 0; i < b.rows; ++i)
    ForEach(b.cols, [&](std::size_t j, auto io) HWY_ATTR {
      float* const z = b.tile + i * 32 + j;
      hn::Store(hn::Add(hn::Load(Floats(), z), io.load(bias + b.col + j)), Floats(), z);
    });
}

HWY_INLINE void Cap(const LogitBlock& b, float softcap) {
  if (softcap > 0) cap_values(Softcap(softcap), b.rows * 32, b.tile, b.tile);
}

/// One row's maximum, sum of exponentials and sum, by lanes, with `cols` more logits.
HWY_INLINE void TakeIn(const float* HWY_RESTRICT z, std::size_t cols, float* highest, float* sum, float* total) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const Vec before = hn::Load(d, highest), lowest = hn::Set(d, -HUGE_VALF);
  Vec m = before, all = hn::Load(d, total);
  for (std::size_t j = 0; j < cols; j += lanes) {
    const auto there = hn::FirstN(d, cols - j);
    const Vec v = hn::Load(d, z + j);
    m = hn::Max(hn::IfThenElse(there, v, lowest), m);
    all = hn::Add(all, hn::IfThenElseZero(there, v));
  }
  const Vec shift = hn::IfThenElse(hn::Eq(m, lowest), hn::Zero(d), m);
  Vec s = hn::Mul(hn::Load(d, sum), FastExp(d, hn::Sub(before, shift)));
  for (std::size_t j = 0; j < cols; j += lanes)
    s = hn::Add(s, hn::IfThenElseZero(hn::FirstN(d, cols - j), FastExp(d, hn::Sub(hn::Load(d, z + j), shift))));
  hn::Store(m, d, highest);
  hn::Store(s, d, sum);
  hn::Store(all, d, total);
}

/// Columns of logits that one visit of a row takes in: more of them spare rescaling the sums.
constexpr std::size_t kGroup = 128;

template <class Isa>
void strip_forward(const ProjectedCrossEntropy& p, std::size_t begin, std::size_t rows, const Space& space,
                   float* losses) {
  const Floats d;
  const std::size_t depth = tiles_of(p.d, 32), lanes = hn::Lanes(d);
  HWY_ALIGN float tile[32 * 32];
  HWY_ALIGN float group[32 * kGroup];
  for (std::size_t i = 0; i < rows * 16; ++i) space.highest[i] = -HUGE_VALF, space.sum[i] = space.total[i] = 0;
  PackLeft<Isa>(p.x + begin * p.x_stride, p.x_stride, rows, p.d, space.x_left);
  Isa::begin();
  for (std::size_t v0 = 0; v0 < p.vocab; v0 += kGroup) {
    const std::size_t width = smaller(kGroup, p.vocab - v0);
    for (std::size_t i = 0; i < rows; i += 32) {
      const std::size_t count = smaller(32, rows - i);
      for (std::size_t v = v0; v < v0 + width; v += 32) {
        const LogitBlock b{begin + i, v, count, smaller(32, p.vocab - v), tile};
        Isa::block(space.x_left + i / 16 * depth * tile_values, depth, p.w + v / 32 * depth * 2 * tile_values, depth,
                   count, {nullptr, 0, tile, 32});
        AddBias(b, p.bias);
        Cap(b, p.softcap);
        for (std::size_t r = 0; r < count; ++r)
          for (std::size_t j = 0; j < 32; j += lanes)
            hn::Store(hn::Load(d, tile + r * 32 + j), d, group + r * kGroup + v - v0 + j);
      }
      for (std::size_t r = 0; r < count; ++r) {
        const float* const z = group + r * kGroup;
        const std::size_t at = (i + r) * 16;
        TakeIn(z, width, space.highest + at, space.sum + at, space.total + at);
        const auto target = static_cast<std::size_t>(p.loss.targets[begin + i + r]);
        if (target >= v0 && target < v0 + width) losses[begin + i + r] = z[target - v0];
      }
    }
  }
  Isa::end();
  const float smooth = p.loss.eps / static_cast<float>(p.vocab);
  for (std::size_t i = 0; i < rows; ++i) {
    const Vec m = hn::Load(d, space.highest + i * 16);
    const float top = hn::GetLane(hn::MaxOfLanes(d, m)), shift = top == -HUGE_VALF ? 0.0f : top;
    const Vec part = hn::Mul(hn::Load(d, space.sum + i * 16), FastExp(d, hn::Sub(m, hn::Set(d, shift))));
    const float lse = shift + logf(hn::GetLane(hn::SumOfLanes(d, part)));
    const float total = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, space.total + i * 16)));
    const std::size_t row = begin + i;
    p.lse[row] = lse;
    const float weight = p.loss.weights ? p.loss.weights[row] : 1.0f;
    losses[row] =
        p.loss.targets[row] == p.loss.ignore ? 0.0f : weight * (lse - (1 - p.loss.eps) * losses[row] - smooth * total);
  }
}

template <class Isa>
void forward(const ProjectedCrossEntropy& p, float* losses) {
  const Space space(p);
  for (std::size_t i = 0; i < p.rows; i += projected_loss_strip)
    strip_forward<Isa>(p, i, smaller(projected_loss_strip, p.rows - i), space, losses);
}

/// The logits of a block become their gradient, zero in what the tile has beyond rows and columns.
template <bool kCapped>
HWY_INLINE void Gradient(const ProjectedCrossEntropy& p, const LogitBlock& b, float* db) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const float smooth = p.loss.eps / static_cast<float>(p.vocab);
  for (std::size_t i = 0; i < 32; ++i) {
    float* const z = b.tile + i * 32;
    const std::size_t row = b.row + i;
    if (i >= b.rows || p.loss.targets[row] == p.loss.ignore) {
      for (std::size_t j = 0; j < 32; j += lanes) hn::Store(hn::Zero(d), d, z + j);
      continue;
    }
    const float scale = p.loss.gradient_scale * (p.loss.weights ? p.loss.weights[row] : 1.0f);
    const Vec factor = hn::Set(d, scale), less = hn::Set(d, scale * smooth), lse = hn::Set(d, p.lse[row]);
    HWY_ALIGN float slopes[32];
    for (std::size_t j = 0; j < 32; j += lanes) {
      const Vec logit = hn::Load(d, z + j), softmax = FastExp(d, hn::Sub(logit, lse));
      if constexpr (kCapped) hn::Store(Softcap(p.softcap).slope(logit), d, slopes + j);
      const Vec g = hn::MulSub(softmax, factor, less);
      hn::Store(j + lanes <= b.cols ? g
                : j < b.cols        ? hn::IfThenElseZero(hn::FirstN(d, b.cols - j), g)
                                    : hn::Zero(d),
                d, z + j);
    }
    const auto target = static_cast<std::size_t>(p.loss.targets[row]);
    if (target >= b.col && target < b.col + b.cols) z[target - b.col] -= scale * (1 - p.loss.eps);
    for (std::size_t j = 0; kCapped && j < 32; j += lanes)
      hn::Store(hn::Mul(hn::Load(d, z + j), hn::Load(d, slopes + j)), d, z + j);
    if (db)
      ForEach(b.cols, [&](std::size_t j, auto io) HWY_ATTR {
        io.store(hn::Add(io.load(db + b.col + j), hn::Load(Floats(), z + j)), db + b.col + j);
      });
  }
}

template <class Isa>
void rows_backward(const ProjectedCrossEntropy& p, const ProjectedGradients& g, std::size_t begin, std::size_t rows,
                   const Space& space) {
  const std::size_t depth = tiles_of(p.d, 32), down = tiles_of(rows, 32), words = tiles_of(p.vocab, 32);
  HWY_ALIGN float tile[32 * 32] = {};
  const float* const x = p.x + begin * p.x_stride;
  PackLeft<Isa>(x, p.x_stride, rows, p.d, space.x_left);
  if (g.dw)
    PackRightOf<Isa>({.b = x, .stride = p.x_stride, .k = rows, .n = p.d, .transposed = false, .packed = space.x_right});
  Isa::begin();
  for (std::size_t v0 = 0; v0 < p.vocab; v0 += projected_loss_cols) {
    const std::size_t width = smaller(projected_loss_cols, p.vocab - v0), along = tiles_of(width, 32);
    for (std::size_t i = 0; i < rows; i += 32) {
      const std::size_t count = smaller(32, rows - i);
      for (std::size_t l = 0; l < along; ++l) {
        const std::size_t v = v0 + l * 32;
        const LogitBlock b{begin + i, v, count, smaller(32, p.vocab - v), tile};
        Isa::block(space.x_left + i / 16 * depth * tile_values, depth, p.w + v / 32 * depth * 2 * tile_values, depth,
                   count, {nullptr, 0, tile, 32});
        AddBias(b, p.bias);
        Cap(b, p.softcap);
        p.softcap > 0 ? Gradient<true>(p, b, g.db) : Gradient<false>(p, b, g.db);
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
        Isa::block(space.dz_along, along, w, along, count, {nullptr, 0, tile, 32});
        PutTile(tile, count, smaller(32, p.d - j), g.dx + (begin + i) * g.dx_stride + j, g.dx_stride,
                v0 > 0 || g.accumulate_x);
      }
    }
    for (std::size_t j = 0; j < p.d && g.dw; j += 32) {
      const std::uint16_t* const right = space.x_right + j / 32 * down * 2 * tile_values;
      for (std::size_t v = 0; v < width; v += 32) {
        const std::size_t count = smaller(32, width - v);
        Isa::block(space.dz_down + v / 16 * down * tile_values, down, right, down, count, {nullptr, 0, tile, 32});
        PutTile(tile, count, smaller(32, p.d - j), g.dw + (v0 + v) * p.d + j, p.d, begin > 0 || g.accumulate_w);
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
#if HWY_TARGET == HWY_AVX3
void fill_projected_loss_pairs(Kernels& k) {
  fill<PairProducts>(k);
}
void fill_projected_loss_tiles(Kernels& k) {
  fill<TileProducts>(k);
}
#endif

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
