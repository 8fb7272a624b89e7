// Attention of many queries over a cache by tiles of AMX, where operands may be rounded to bfloat16: queries, keys and values (8-bit
// values times their scale) and the weights of a tile. Sums, maxima and the running softmax stay float32, as in
// cached_attention-inl.h.
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/cached_attention_bf16.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/attention_products-inl.h"
#include "kern/cached_attention-inl.h"
#include "kern/fill-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

/// The same products as FloatProducts, 32 queries at a time.
class TiledProducts {
 public:
  TiledProducts(const CachedAttention& a, const TileWork& w) : a_(&a), w_(&w) {
    Buffers buffers(w.products);
    const auto words = [&](std::size_t n) { return reinterpret_cast<std::uint16_t*>(buffers.take(n / 2)); };
    queries_ = words(packed_left_values(kStrip, a.d_k));
    keys_ = words(packed_right_values(a.d_k, kKeys));
    weights_ = words(packed_left_values(kStrip, kKeys));
    values_ = words(packed_right_values(kKeys, a.d_v));
    product_ = buffers.take(kStrip * 32);
    Tiles::begin();
  }
  ~TiledProducts() { Tiles::end(); }
  TiledProducts(const TiledProducts&) = delete;
  TiledProducts& operator=(const TiledProducts&) = delete;

  static std::size_t need(const CachedAttention& a) {
    const std::size_t halves = packed_left_values(kStrip, a.d_k) + packed_right_values(a.d_k, kKeys) +
                               packed_left_values(kStrip, kKeys) + packed_right_values(kKeys, a.d_v);
    return halves / 2 + kStrip * 32 + 6 * Buffers::need(0);
  }
  static std::size_t stride(std::size_t cols) { return tiles_of(cols, 32) * 32; }

  void take_tile(std::size_t cols) {
    pack_across(w_->keys, a_->d_k, cols, a_->d_k, keys_);
    pack_down(w_->values, a_->d_v, cols, a_->d_v, values_);
  }

  void scores(const float* q, std::size_t count, std::size_t cols, float* s) const {
    const std::size_t depth = tiles_of(a_->d_k, 32);
    for (std::size_t i = 0; i < count; i += kStrip, q += kStrip * a_->q_stride, s += kStrip * stride(cols)) {
      const std::size_t rows = smaller(kStrip, count - i);
      pack_rows(q, a_->q_stride, rows, a_->d_k, queries_);
      for (std::size_t j = 0; j < cols; j += 32)
        Tiles::product(queries_, depth, keys_ + j / 32 * depth * 2 * tile_values, depth, rows, cols - j,
                       {nullptr, 0, s + j, stride(cols)});
      const Vec scale = hn::Set(Floats(), a_->scale);
      for (std::size_t r = 0; r < rows; ++r) {
        float* const row = s + r * stride(cols);
        ForEach(cols, [&](std::size_t j, auto io) HWY_ATTR { io.store(hn::Mul(io.load(row + j), scale), row + j); });
      }
    }
  }

  void add_values(const float* p, std::size_t count, std::size_t cols, float* y, std::size_t y_stride) const {
    const std::size_t depth = tiles_of(cols, 32);
    for (std::size_t i = 0; i < count; i += kStrip, p += kStrip * stride(cols), y += kStrip * y_stride) {
      const std::size_t rows = smaller(kStrip, count - i);
      pack_rows(p, stride(cols), rows, stride(cols), weights_);
      by_columns(weights_, depth, values_, depth, depth, rows, a_->d_v, product_,
                 [&](std::size_t c, std::size_t columns)
                     HWY_ATTR { PutTile(product_, rows, columns, y + c, y_stride, /*add=*/true); });
    }
  }

 private:
  static constexpr std::size_t kStrip = 32;

  const CachedAttention* a_;
  const TileWork* w_;
  std::uint16_t *queries_, *keys_, *weights_, *values_;
  float* product_;
};

std::size_t cached_scratch(const CachedAttention& a) {
  return a.bf16 ? scratch_of_rows<TiledProducts>(a) : scratch_of_rows<FloatProducts>(a);
}

void attend_cached(const CachedAttention& a, float* out, std::size_t out_stride, float* scratch) {
  a.bf16 ? attend_all<TiledProducts>(a, out, out_stride, scratch)
         : attend_all<FloatProducts>(a, out, out_stride, scratch);
}

}  // namespace

void fill_cached_attention_tiles(Kernels& k) {
  k.cached_attention_scratch = cached_scratch;
  k.cached_attention = attend_cached;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_AVX3
