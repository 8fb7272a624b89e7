// Linear attention, y_i = phi(q_i) S / phi(q_i) z with phi(x) = elu(x) + 1 [Katharopoulos et al. 2020, eq. 5-12].
// Here v has one more column, of ones, so that S carries z as its last column: n = phi(q) S, y = n[:d_v] / n[d_v].
// Tokens are processed in chunks of kChunk: S covers the tokens before the chunk, and the masked product A =
// tril(phi(Q) phi(K)^T) those within it. Backward, with g = dy / n[d_v] and G = [g, -g . y], the gradient of n:
//   B = tril(G V^T)   d phi(Q) = G S^T + B phi(K)   d phi(K) = V R^T + B^T phi(Q)   dV = phi(K) R + A^T G
// where R = sum of phi(q_i)^T G_i over the later chunks. phi'(x) = min(phi(x), 1).
#include "base/as_size.h"
#include "kern/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kern/linear_attention.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kern/attention_tile-inl.h"
#include "kern/fill-inl.h"
#include "kern/math-inl.h"
#include "kern/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::kern::HWY_NAMESPACE {
namespace {

constexpr std::size_t kChunk = 64;

/// Pads rows of d_k and of d_v + 1 values to whole cache lines.
constexpr std::size_t padded(std::size_t n) {
  return (n + 15) / 16 * 16;
}

/// The buffers of one call; k = padded(d_k), v = padded(d_v + 1) are the strides of their rows.
struct Work {
  std::size_t k, v;
  float *phi_q, *phi_k, *d_phi;  ///< [kChunk, k]
  float *values, *n;             ///< [kChunk, v]: v with its column of ones; n, then G
  float *phi_k_t, *values_t;     ///< transposed, rows of kChunk
  float *a, *b;                  ///< [kChunk, kChunk]
  float *s, *r, *step;           ///< [d_k, v]; step: what one chunk adds to S
  float *s_t, *r_t;              ///< [d_v + 1, k]
  double* total;                 ///< [d_k, v]: S, summed in double

  Work(float* scratch, std::size_t d_k, std::size_t d_v) : k(padded(d_k)), v(padded(d_v + 1)) {
    Buffers buffers(scratch);
    phi_q = buffers.take(kChunk * k), phi_k = buffers.take(kChunk * k), d_phi = buffers.take(kChunk * k);
    values = buffers.take(kChunk * v), n = buffers.take(kChunk * v);
    phi_k_t = buffers.take(kChunk * k), values_t = buffers.take(kChunk * v);
    a = buffers.take(kChunk * kChunk), b = buffers.take(kChunk * kChunk);
    s = buffers.take(k * v), r = buffers.take(k * v), step = buffers.take(k * v);
    s_t = buffers.take(k * v), r_t = buffers.take(k * v);
    total = reinterpret_cast<double*>(buffers.take(2 * k * v));
  }
};

std::size_t linear_attention_scratch(std::size_t d_k, std::size_t d_v) {
  const std::size_t k = padded(d_k), v = padded(d_v + 1);
  return 4 * Buffers::need(kChunk * k) + 3 * Buffers::need(kChunk * v) + 2 * Buffers::need(kChunk * kChunk) +
         5 * Buffers::need(k * v) + Buffers::need(2 * k * v);
}

HWY_INLINE Vec feature(Vec x) {
  const Floats d;
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Add(x, hn::Set(d, 1.0f)), FastExp(d, x));
}

/// A matrix with a stride; its user knows rows and cols.
struct Rows2 {
  const float* at;
  std::size_t stride;
};

void features(Rows2 x, std::size_t rows, std::size_t cols, float* y, std::size_t y_stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    ForEach(cols, [&](std::size_t c, auto io)
                      HWY_ATTR { io.store(feature(io.load(x.at + i * x.stride + c)), y + i * y_stride + c); });
  }
}

void values_and_ones(Rows2 x, std::size_t rows, std::size_t cols, float* y, std::size_t y_stride) {
  for (std::size_t i = 0; i < rows; ++i) {
    ForEach(cols,
            [&](std::size_t c, auto io) HWY_ATTR { io.store(io.load(x.at + i * x.stride + c), y + i * y_stride + c); });
    y[i * y_stride + cols] = 1;
  }
}

/// C [m, n] (+)= A B with A [m, k], stored as [k, m] if transposed.
enum class Layout { plain, transposed };
enum class Result { store, add };
void multiply(std::size_t m, std::size_t n, std::size_t k, Rows2 a, Layout layout, Rows2 b, float* c,
              std::size_t c_stride, Result result) {
  const bool plain = layout == Layout::plain;
  SmallGemm g{
      .m = m, .n = n, .k = k, .a = a.at, .a_row = plain ? a.stride : 1, .a_col = plain ? 1 : a.stride, .b = b.at};
  g.b_stride = b.stride;
  g.c = c;
  g.c_stride = c_stride;
  g.accumulate = result == Result::add;
  small_gemm(g);
}

/// Zeroes the entries whose key comes after the query.
void keep_lower_triangle(float* a, std::size_t rows, std::size_t cols) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i + 1; j < cols; ++j) a[i * kChunk + j] = 0;
  }
}

void clear(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0;
}

/// One head of one row, processed in chunks; the chunk's queries and keys have the same indices.
class Head {
 public:
  Head(const LinearAttention& a, std::size_t row, std::size_t head, Work& work)
      : d_k(a.d_k), d_v(a.d_v), q_len(as_size(a.rows[row].q_len)), k_len(as_size(a.rows[row].k_len)), w(work) {
    q = {a.q + as_size(a.rows[row].q_begin) * a.q_stride + head * a.d_k, a.q_stride};
    k = {a.k + as_size(a.rows[row].k_begin) * a.k_stride + head * a.d_k, a.k_stride};
    v = {a.v + as_size(a.rows[row].k_begin) * a.v_stride + head * a.d_v, a.v_stride};
  }

  std::size_t chunks() const { return (larger(q_len, k_len) + kChunk - 1) / kChunk; }

  /// Loads phi(Q), and phi(K) and V, of a chunk; the counts tell how many tokens of each it has.
  void load_queries(std::size_t chunk) {
    nq = count(q_len, chunk);
    if (nq) features({q.at + chunk * kChunk * q.stride, q.stride}, nq, d_k, w.phi_q, w.k);
  }
  void load_keys(std::size_t chunk) {
    nk = count(k_len, chunk);
    if (nk == 0) return;
    features({k.at + chunk * kChunk * k.stride, k.stride}, nk, d_k, w.phi_k, w.k);
    values_and_ones({v.at + chunk * kChunk * v.stride, v.stride}, nk, d_v, w.values, w.v);
  }
  /// to (+)= phi(K)^T V
  void add_keys(float* to, Result result) {
    multiply(d_k, d_v + 1, nk, {w.phi_k, w.k}, Layout::transposed, {w.values, w.v}, to, w.v, result);
  }
  /// n = phi(Q) S, plus A V for the causal chunk
  void read_state() { multiply(nq, d_v + 1, d_k, {w.phi_q, w.k}, Layout::plain, {w.s, w.v}, w.n, w.v, Result::store); }
  void read_chunk() {
    if (nk == 0) return;
    pack_transposed(w.phi_k, w.k, nk, d_k, w.phi_k_t, kChunk);
    multiply(nq, nk, d_k, {w.phi_q, w.k}, Layout::plain, {w.phi_k_t, kChunk}, w.a, kChunk, Result::store);
    keep_lower_triangle(w.a, nq, nk);
    multiply(nq, d_v + 1, nk, {w.a, kChunk}, Layout::plain, {w.values, w.v}, w.n, w.v, Result::add);
  }

  std::size_t d_k, d_v, q_len, k_len, nq = 0, nk = 0;
  Rows2 q, k, v;
  Work& w;

 private:
  static std::size_t count(std::size_t len, std::size_t chunk) {
    return len > chunk * kChunk ? smaller(kChunk, len - chunk * kChunk) : 0;
  }
};

float inverse(float x) {
  return x > 0 ? 1.0f / x : 0.0f;
}

/// y = n[:d_v] / n[d_v] for the chunk's queries
void write_outputs(const Head& h, float* y, std::size_t stride) {
  for (std::size_t i = 0; i < h.nq; ++i) {
    const float* n = h.w.n + i * h.w.v;
    const Vec scale = hn::Set(Floats(), inverse(n[h.d_v]));
    ForEach(h.d_v,
            [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Mul(scale, io.load(n + c)), y + i * stride + c); });
  }
}

void linear_attention(const LinearAttention& a, float* out, std::size_t out_stride, float* scratch) {
  Work w(scratch, a.d_k, a.d_v);
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    for (std::size_t head = 0; head < a.heads; ++head) {
      Head h(a, row, head, w);
      float* y = out + as_size(a.rows[row].q_begin) * out_stride + head * a.d_v;
      clear(w.s, a.d_k * w.v);
      for (std::size_t c = 0; c < h.chunks() && !a.causal; ++c) {
        h.load_keys(c);
        h.add_keys(w.s, Result::add);
      }
      for (std::size_t c = 0; c < h.chunks(); ++c) {
        h.load_queries(c);
        h.read_state();
        if (a.causal) {
          h.load_keys(c);
          h.read_chunk();
          h.add_keys(w.s, Result::add);
        }
        write_outputs(h, y + c * kChunk * out_stride, out_stride);
      }
    }
  }
}

/// n becomes G = [g, -g . y], with g = dy / n[d_v] and y = n / n[d_v].
void gradient_of_n(const Head& h, const float* dy, std::size_t stride) {
  const Floats d;
  for (std::size_t i = 0; i < h.nq; ++i, dy += stride) {
    float* n = h.w.n + i * h.w.v;
    const float scale = inverse(n[h.d_v]);
    Vec sum = hn::Zero(d);
    ForEach(h.d_v, [&](std::size_t c, auto io) HWY_ATTR {
      const Vec g = hn::Mul(io.load(dy + c), hn::Set(d, scale));
      sum = hn::MulAdd(g, io.load(n + c), sum);
      io.store(g, n + c);
    });
    n[h.d_v] = -scale * hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

/// dx (+)= d phi * min(phi, 1)
void through_feature(const Head& h, std::size_t rows, const float* phi, float* dx, std::size_t stride,
                     bool accumulate) {
  const Floats d;
  for (std::size_t i = 0; i < rows; ++i) {
    const float *f = phi + i * h.w.k, *df = h.w.d_phi + i * h.w.k;
    float* to = dx + i * stride;
    ForEach(h.d_k, [&](std::size_t c, auto io) HWY_ATTR {
      const Vec g = hn::Mul(io.load(df + c), SmallerOf(io.load(f + c), hn::Set(d, 1.0f)));
      io.store(accumulate ? hn::Add(io.load(to + c), g) : g, to + c);
    });
  }
}

/// The destinations of one head's gradients of a chunk.
struct Gradients {
  const float* d_out;
  float *dq, *dk, *dv;
  std::size_t d_out_stride, dq_stride, dk_stride, dv_stride;
  bool accumulate;

  Gradients at(std::size_t chunk) const {
    Gradients g = *this;
    const std::size_t token = chunk * kChunk;
    g.d_out += token * d_out_stride;
    g.dq += token * dq_stride;
    g.dk += token * dk_stride;
    g.dv += token * dv_stride;
    return g;
  }
};

/// d phi(Q) = G S^T (+ B phi(K)), and dq. S^T is in s_t, G in n, B in b.
void queries_backward(Head& h, const Gradients& g, bool causal) {
  Work& w = h.w;
  multiply(h.nq, h.d_k, h.d_v + 1, {w.n, w.v}, Layout::plain, {w.s_t, w.k}, w.d_phi, w.k, Result::store);
  if (causal) multiply(h.nq, h.d_k, h.nk, {w.b, kChunk}, Layout::plain, {w.phi_k, w.k}, w.d_phi, w.k, Result::add);
  through_feature(h, h.nq, w.phi_q, g.dq, g.dq_stride, g.accumulate);
}

/// d phi(K) = V R^T (+ B^T phi(Q)), dk, dV = phi(K) R (+ A^T G). R^T is in r_t.
void keys_backward(Head& h, const Gradients& g, bool causal) {
  Work& w = h.w;
  multiply(h.nk, h.d_k, h.d_v + 1, {w.values, w.v}, Layout::plain, {w.r_t, w.k}, w.d_phi, w.k, Result::store);
  if (causal) multiply(h.nk, h.d_k, h.nq, {w.b, kChunk}, Layout::transposed, {w.phi_q, w.k}, w.d_phi, w.k, Result::add);
  through_feature(h, h.nk, w.phi_k, g.dk, g.dk_stride, g.accumulate);
  multiply(h.nk, h.d_v, h.d_k, {w.phi_k, w.k}, Layout::plain, {w.r, w.v}, g.dv, g.dv_stride,
           g.accumulate ? Result::add : Result::store);
  if (causal)
    multiply(h.nk, h.d_v, h.nq, {w.a, kChunk}, Layout::transposed, {w.n, w.v}, g.dv, g.dv_stride, Result::add);
}

/// R += phi(Q)^T G
void add_queries(Head& h) {
  Work& w = h.w;
  multiply(h.d_k, h.d_v + 1, h.nq, {w.phi_q, w.k}, Layout::transposed, {w.n, w.v}, w.r, w.v, Result::add);
}

void full_backward(Head& h, const Gradients& g) {
  Work& w = h.w;
  for (std::size_t c = 0; c < h.chunks(); ++c) {
    h.load_keys(c);
    h.add_keys(w.s, Result::add);
  }
  pack_transposed(w.s, w.v, h.d_k, h.d_v + 1, w.s_t, w.k);
  for (std::size_t c = 0; c < h.chunks(); ++c) {
    h.load_queries(c);
    h.read_state();
    gradient_of_n(h, g.at(c).d_out, g.d_out_stride);
    queries_backward(h, g.at(c), false);
    add_queries(h);
  }
  pack_transposed(w.r, w.v, h.d_k, h.d_v + 1, w.r_t, w.k);
  for (std::size_t c = 0; c < h.chunks(); ++c) {
    h.load_keys(c);
    keys_backward(h, g.at(c), false);
  }
}

/// From the last chunk to the first: S before a chunk is S after it minus what the chunk added, exactly the same
/// products. So in double nothing is lost, and no chunk's S need be stored.
void causal_backward(Head& h, const Gradients& g) {
  Work& w = h.w;
  const std::size_t size = h.d_k * w.v;
  for (std::size_t i = 0; i < size; ++i) w.total[i] = 0;
  clear(w.step, size);  // the padding is summed too
  for (std::size_t c = 0; c < h.chunks(); ++c) {
    h.load_keys(c);
    h.add_keys(w.step, Result::store);
    for (std::size_t i = 0; i < size; ++i) w.total[i] += static_cast<double>(w.step[i]);
  }
  for (std::size_t c = h.chunks(); c-- > 0;) {
    h.load_queries(c);
    h.load_keys(c);
    h.add_keys(w.step, Result::store);
    for (std::size_t i = 0; i < size; ++i) {
      w.total[i] -= static_cast<double>(w.step[i]);
      w.s[i] = static_cast<float>(w.total[i]);
    }
    pack_transposed(w.s, w.v, h.d_k, h.d_v + 1, w.s_t, w.k);
    pack_transposed(w.r, w.v, h.d_k, h.d_v + 1, w.r_t, w.k);
    h.read_state();
    h.read_chunk();
    gradient_of_n(h, g.at(c).d_out, g.d_out_stride);
    pack_transposed(w.values, w.v, h.nk, h.d_v + 1, w.values_t, kChunk);
    multiply(h.nq, h.nk, h.d_v + 1, {w.n, w.v}, Layout::plain, {w.values_t, kChunk}, w.b, kChunk, Result::store);
    keep_lower_triangle(w.b, h.nq, h.nk);
    queries_backward(h, g.at(c), true);
    keys_backward(h, g.at(c), true);
    add_queries(h);
  }
}

void linear_attention_backward(const LinearAttention& a, const float* d_out, std::size_t d_out_stride, float* dq,
                               std::size_t dq_stride, float* dk, std::size_t dk_stride, float* dv,
                               std::size_t dv_stride, bool accumulate, float* scratch) {
  Work w(scratch, a.d_k, a.d_v);
  for (std::size_t row = 0; row < a.num_rows; ++row) {
    const std::size_t q = as_size(a.rows[row].q_begin), k = as_size(a.rows[row].k_begin);
    for (std::size_t head = 0; head < a.heads; ++head) {
      Head h(a, row, head, w);
      const Gradients g{d_out + q * d_out_stride + head * a.d_v,
                        dq + q * dq_stride + head * a.d_k,
                        dk + k * dk_stride + head * a.d_k,
                        dv + k * dv_stride + head * a.d_v,
                        d_out_stride,
                        dq_stride,
                        dk_stride,
                        dv_stride,
                        accumulate};
      clear(w.s, a.d_k * w.v);
      clear(w.r, a.d_k * w.v);
      a.causal ? causal_backward(h, g) : full_backward(h, g);
    }
  }
}

/// S += phi(k) v^T, z += phi(k), y = phi(q) S / phi(q) z, some rows of S at a time, so that phi fits on the stack.
void linear_attention_step(const LinearAttention& a, float* state, float* out, std::size_t out_stride) {
  const Floats d;
  HWY_ALIGN float phi_q[kChunk], phi_k[kChunk];
  const std::size_t size = a.d_k * a.d_v + a.d_k;  // of one head's state
  for (std::size_t job = 0; job < a.num_rows * a.heads; ++job, state += size) {
    const RowSpan& row = a.rows[job / a.heads];
    const std::size_t head = job % a.heads, first_token = as_size(row.q_begin);
    for (std::size_t token = first_token; token < first_token + as_size(row.q_len); ++token) {
      const float *q = a.q + token * a.q_stride + head * a.d_k, *k = a.k + token * a.k_stride + head * a.d_k;
      const float* v = a.v + token * a.v_stride + head * a.d_v;
      float *z = state + a.d_k * a.d_v, *y = out + token * out_stride + head * a.d_v;
      float divisor = 0;
      clear(y, a.d_v);
      for (std::size_t first = 0; first < a.d_k; first += kChunk) {
        const std::size_t rows = smaller(kChunk, a.d_k - first);
        features({q + first, 0}, 1, rows, phi_q, kChunk);
        features({k + first, 0}, 1, rows, phi_k, kChunk);
        for (std::size_t i = 0; i < rows; ++i) divisor += phi_q[i] * (z[first + i] += phi_k[i]);
        ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR {
          const Vec x = io.load(v + c);
          Vec sum = io.load(y + c);
          for (std::size_t i = 0; i < rows; ++i) {
            float* s = state + (first + i) * a.d_v + c;
            const Vec updated = hn::MulAdd(hn::Set(d, phi_k[i]), x, io.load(s));
            io.store(updated, s);
            sum = hn::MulAdd(hn::Set(d, phi_q[i]), updated, sum);
          }
          io.store(sum, y + c);
        });
      }
      const Vec scale = hn::Set(d, inverse(divisor));
      ForEach(a.d_v, [&](std::size_t c, auto io) HWY_ATTR { io.store(hn::Mul(scale, io.load(y + c)), y + c); });
    }
  }
}

}  // namespace

void fill_linear_attention(Kernels& k) {
  k.linear_attention_scratch = linear_attention_scratch;
  k.linear_attention = linear_attention;
  k.linear_attention_backward = linear_attention_backward;
  k.linear_attention_step = linear_attention_step;
}

}  // namespace tril::kern::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
