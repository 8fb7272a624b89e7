// Attention to a packed memory: up to four queries of a row share a pass over all its keys.
//   S = scale Q K^T   P = exp(S - max S)   O = P V / sum P                                  [Vaswani et al. 2017, eq. 1]
// Keys are stored transposed, so that a vector holds one dimension of many keys and no sum runs across lanes. With 8
// bits, a key's scale multiplies its score and a value's scale its weight.
#include "kern/memory_attention.h"

#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/memory_attention.cpp"
#include <cmath>

#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/bf16-inl.h"
#include "kern/fill-inl.h"
#include "kern/largest-inl.h"
#include "kern/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr std::size_t kMost = memory_attention_queries;

HWY_INLINE Vec Widened(const std::uint16_t* p) {
  const hn::ScalableTag<std::uint32_t> du;
  const hn::Rebind<std::uint16_t, decltype(du)> d16;
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, p))));
}
HWY_INLINE Vec Widened(const std::int8_t* p) {
  const hn::ScalableTag<std::int32_t> di;
  const hn::Rebind<std::int8_t, decltype(di)> d8;
  return hn::ConvertTo(Floats(), hn::PromoteTo(di, hn::LoadU(d8, p)));
}

/// to [n] = x [n] * up, rounded; whole vectors are written, padded with zeros.
HWY_INLINE void Round(const float* x, std::size_t n, float, std::uint16_t* to) {
  const std::size_t lanes = hn::Lanes(Floats());
  for (std::size_t j = 0; j < n; j += lanes)
    StoreRounded(j + lanes <= n ? hn::LoadU(Floats(), x + j) : LoadPart(Floats(), x + j, n - j), to + j);
}
HWY_INLINE void Round(const float* x, std::size_t n, float up, std::int8_t* to) {
  const Floats d;
  const hn::Rebind<std::int8_t, Floats> d8;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = 0; j < n; j += lanes) {
    const Vec v = j + lanes <= n ? hn::LoadU(d, x + j) : LoadPart(d, x + j, n - j);
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Mul(v, hn::Set(d, up)))), d8, to + j);
  }
}

/// The factor that makes x [n] fill 8 bits, and its inverse through `scale`; 1 for bfloat16.
HWY_INLINE float Factor(const float* x, std::size_t n, std::uint16_t*, float*) {
  static_cast<void>(x), static_cast<void>(n);
  return 1;
}
HWY_INLINE float Factor(const float* x, std::size_t n, std::int8_t*, float* scale) {
  const float most = LargestSize(x, n);
  *scale = most / 127.0f;
  return most > 1e-35f ? 127.0f / most : 0.0f;
}

template <class T>
void pack_head(const PackMemory& p, const MemoryLayout& at, const float* k, const float* v, std::byte* head) {
  T* const keys = reinterpret_cast<T*>(head + at.keys);
  T* const values = reinterpret_cast<T*>(head + at.values);
  auto* const scales = reinterpret_cast<float*>(head + at.scales);
  for (std::size_t j = 0; j < p.n; ++j) {
    const float* const key = k + j * p.k_stride;
    const float up = Factor(key, p.d_k, keys, scales + j);
    for (std::size_t first = 0; first < p.d_k; first += 64) {
      T rounded[64];
      const std::size_t n = smaller(64, p.d_k - first);
      Round(key + first, n, up, rounded);
      for (std::size_t c = 0; c < n; ++c) keys[(first + c) * at.padded_n + j] = rounded[c];
    }
    const float* const value = v + j * p.v_stride;
    const float up_v = Factor(value, p.d_v, values, scales + at.padded_n + j);
    Round(value, p.d_v, up_v, values + j * at.padded_d_v);
    for (std::size_t c = p.d_v; c < at.padded_d_v; ++c) values[j * at.padded_d_v + c] = 0;
  }
  for (std::size_t j = p.n; j < at.padded_n; ++j) {
    for (std::size_t c = 0; c < p.d_k; ++c) keys[c * at.padded_n + j] = 0;
    if (p.form == MemoryForm::int8) scales[j] = scales[at.padded_n + j] = 0;
  }
}

void pack_memory(const PackMemory& p) {
  const MemoryLayout at(p.form, p.n, p.d_k, p.d_v);
  for (std::size_t h = 0; h < p.kv_heads; ++h) {
    const float *k = p.k + h * p.d_k, *v = p.v + h * p.d_v;
    if (p.form == MemoryForm::bf16)
      pack_head<std::uint16_t>(p, at, k, v, p.to + h * at.total);
    else
      pack_head<std::int8_t>(p, at, k, v, p.to + h * at.total);
  }
}

/// y[i] = sum over l of a[i * a_stride + l] * b[l, :], for `vecs` vectors of columns of b and kRows rows: the form
/// of both products. Rows of y are y_stride apart.
template <std::size_t kRows, std::size_t kVecs, class T>
HWY_INLINE void Product(const float* HWY_RESTRICT a, std::size_t a_stride, std::size_t depth, const T* HWY_RESTRICT b,
                        std::size_t b_stride, float* HWY_RESTRICT y, std::size_t y_stride, std::size_t columns) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vec sum[kRows][kVecs];
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::Zero(d);
  for (std::size_t l = 0; l < depth; ++l, b += b_stride) {
    Vec row[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v) row[v] = Widened(b + v * lanes);
    for (std::size_t i = 0; i < kRows; ++i) {
      const Vec x = hn::Set(d, a[i * a_stride + l]);
      for (std::size_t v = 0; v < kVecs; ++v) sum[i][v] = hn::MulAdd(x, row[v], sum[i][v]);
    }
  }
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t v = 0; v < kVecs; ++v) {
      const std::size_t j = v * lanes;
      if (j + lanes <= columns)
        hn::StoreU(sum[i][v], d, y + i * y_stride + j);
      else if (j < columns)
        StorePart(sum[i][v], d, y + i * y_stride + j, columns - j);
    }
}

/// The same for all columns; the columns of b are a multiple of 16.
template <std::size_t kRows, class T>
HWY_INLINE void Multiply(const float* a, std::size_t a_stride, std::size_t depth, const T* b, std::size_t b_stride,
                         float* y, std::size_t y_stride, std::size_t columns) {
  constexpr std::size_t kWide = hn::MaxLanes(Floats()) == 4 ? 2 : 4;
  const std::size_t lanes = hn::Lanes(Floats());
  std::size_t j = 0;
  for (; j + kWide * lanes <= b_stride; j += kWide * lanes)
    Product<kRows, kWide>(a, a_stride, depth, b + j, b_stride, y + j, y_stride, columns > j ? columns - j : 0);
  for (; j < b_stride; j += lanes)
    Product<kRows, 1>(a, a_stride, depth, b + j, b_stride, y + j, y_stride, columns > j ? columns - j : 0);
}

/// s [n] = exp(s - max s); returns the sum.
HWY_INLINE float Exponentiate(float* HWY_RESTRICT s, std::size_t n) {
  const Floats d;
  const Vec none = hn::Set(d, -HUGE_VALF);
  Vec most = none;
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR { most = LargerOf(most, io.or_else(io.load(s + j), none)); });
  const Vec shift = hn::MaxOfLanes(d, most);
  Vec sum = hn::Zero(d);
  ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
    const Vec e = FastExp(d, hn::Sub(io.load(s + j), shift));
    io.store(e, s + j);
    sum = hn::Add(sum, io.or_else(e, hn::Zero(d)));
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// kRows queries, the first at q, against one head of a row.
template <std::size_t kRows, class T>
HWY_INLINE void AttendRows(const MemoryAttention& a, const std::byte* head, std::size_t n, const float* q, float* out,
                           std::size_t out_stride, float* scores) {
  const MemoryLayout at(a.form, n, a.d_k, a.d_v);
  const auto* const scales = reinterpret_cast<const float*>(head + at.scales);
  Multiply<kRows>(q, a.q_stride, a.d_k, reinterpret_cast<const T*>(head + at.keys), at.padded_n, scores, at.padded_n,
                  at.padded_n);
  for (std::size_t i = 0; i < kRows; ++i) {
    float* const s = scores + i * at.padded_n;
    ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
      Vec x = hn::Mul(io.load(s + j), hn::Set(Floats(), a.scale));
      if constexpr (sizeof(T) == 1) x = hn::Mul(x, io.load(scales + j));
      io.store(x, s + j);
    });
    const Vec inverse = hn::Set(Floats(), 1.0f / Exponentiate(s, n));
    ForEach(n, [&](std::size_t j, auto io) HWY_ATTR {
      Vec w = hn::Mul(io.load(s + j), inverse);
      if constexpr (sizeof(T) == 1) w = hn::Mul(w, io.load(scales + at.padded_n + j));
      io.store(w, s + j);
    });
  }
  Multiply<kRows>(scores, at.padded_n, n, reinterpret_cast<const T*>(head + at.values), at.padded_d_v, out, out_stride,
                  a.d_v);
}

template <class T>
HWY_INLINE void AttendHead(const MemoryAttention& a, const MemorySpan& span, std::size_t h, float* out,
                           std::size_t out_stride, float* scores) {
  const auto row = as_size(span.memory), n = as_size(a.lengths[row]);
  const std::size_t bytes = MemoryLayout(a.form, n, a.d_k, a.d_v).total;
  const std::byte* const head = a.memory + a.offsets[row] + h / (a.heads / a.kv_heads) * bytes;
  // The next head's data follow this one's.
  for (std::size_t b = 0; b < bytes && b < 8192; b += 64) __builtin_prefetch(head + bytes + b);
  for (std::size_t i = 0; i < as_size(span.q_len); i += kMost) {
    const std::size_t token = as_size(span.q_begin) + i;
    const float* const q = a.q + token * a.q_stride + h * a.d_k;
    float* const y = out + token * out_stride + h * a.d_v;
    switch (as_size(span.q_len) - i) {
      case 1:
        AttendRows<1, T>(a, head, n, q, y, out_stride, scores);
        break;
      case 2:
        AttendRows<2, T>(a, head, n, q, y, out_stride, scores);
        break;
      case 3:
        AttendRows<3, T>(a, head, n, q, y, out_stride, scores);
        break;
      default:
        AttendRows<4, T>(a, head, n, q, y, out_stride, scores);
    }
  }
}

void memory_attention(const MemoryAttention& a, float* out, std::size_t out_stride, float* scratch) {
  for (const MemorySpan* s = a.spans; s != a.spans + a.num_spans; ++s)
    for (std::size_t h = 0; h < a.heads; ++h) {
      if (a.form == MemoryForm::bf16)
        AttendHead<std::uint16_t>(a, *s, h, out, out_stride, scratch);
      else
        AttendHead<std::int8_t>(a, *s, h, out, out_stride, scratch);
    }
}

}  // namespace

void fill_memory_attention(Kernels& k) {
  k.pack_memory = pack_memory;
  k.memory_attention = memory_attention;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
