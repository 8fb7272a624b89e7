// The kernels: all code that reads or writes tensor memory, as functions on raw pointers, one table for each
// instruction set. The table is chosen once (best(), or table("avx2") to force one) and reached through the Context.
//
// Conventions: all values are float32. A matrix [n, d] is row-major and dense unless a stride is given. Sums over
// rows or columns are accumulated in float32 in a fixed order, so a call's result depends only on its arguments.
// With `accumulate` the result is added to the output instead of stored. No kernel but gemm allocates, throws or
// starts threads. A pointer may have any alignment that a float has. Sizes may be zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kern/dropout.h"

namespace tril::kern {

enum class Activation : std::uint8_t { none, relu, relu_squared, gelu, gelu_tanh, silu, sigmoid, softplus, exp_excess };

/// Rows of logits against targets. eps spreads label smoothing over the whole vocabulary:
///   loss_i = -(1 - eps) log p_i[target] - eps / V * sum_v log p_i[v],   zero where target == ignore
struct CrossEntropy {
  const std::int32_t* targets = nullptr;
  std::int32_t ignore = -1;
  float eps = 0;
  float gradient_scale = 1;        ///< the gradient of the total with respect to each loss_i (1 / tokens for a mean)
  const float* weights = nullptr;  ///< [rows] or null: a factor for each row's loss (and gradient)
};

/// One step of Adam or AdamW [Kingma & Ba 2015, alg. 1; Loshchilov & Hutter 2019, alg. 2] over n values:
///   g' = g * gradient_scale (+ l2 * w for Adam)   m = b1 m + (1 - b1) g'   v = b2 v + (1 - b2) g'^2
///   w -= lr * (m / bias1) / (sqrt(v / bias2) + eps) + lr * decay * w (AdamW)
struct Adam {
  float lr = 0, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
  float decoupled_decay = 0;   ///< AdamW's, multiplied by lr
  float l2 = 0;                ///< Adam's
  float bias1 = 1, bias2 = 1;  ///< 1 - beta^t
  float gradient_scale = 1;    ///< for clipping and averaging
};

/// One step of Lion [Chen et al. 2023, alg. 2] over n values:
///   g' = g * gradient_scale   w = (1 - lr decay) w - lr sign(b1 m + (1 - b1) g')   m = b2 m + (1 - b2) g'
struct Lion {
  float lr = 0, beta1 = 0.9f, beta2 = 0.99f, decay = 0, gradient_scale = 1;
};

/// One step of Adafactor [Shazeer & Stern 2018, alg. 4 and 5] for one whole weight: with s = (gradient_scale g)^2 + eps1,
///   r = b2 r + (1 - b2) mean of s by row   c = b2 c + (1 - b2) mean of s by column   V = r c^T / mean(r)
///   (a vector keeps V itself)   u = gradient_scale g / sqrt(V)   u' = u / max(1, rms(u) / threshold)
///   w = (1 - lr decay) w - lr max(eps2, rms(w)) u'
/// g is overwritten by u.
struct Adafactor {
  float lr = 0, beta2 = 0.999f, eps1 = 1e-30f, eps2 = 1e-3f, threshold = 1, decay = 0, gradient_scale = 1;
};

enum class AlignmentCost : std::uint8_t;  // attention.h
struct RowSpan;                           // attention.h
struct Attention;                         // attention.h
struct AttentionGradient;                 // attention.h
struct CachedAttention;                   // attention.h
struct QuantizeSlots;                     // attention.h
struct MeanAttention;                     // attention.h
struct LinearAttention;                   // attention.h
struct Gemm;                              // gemm.h
struct PackRight;                         // gemm_bf16.h
struct PackedGemm;                        // gemm_bf16.h
struct CompactRight;                      // compact_bf16.h
struct PackCompact;                       // compact_bf16.h
struct LinearGradient;                    // linear_gradient.h
struct PackQuantized;                     // gemm_int8.h
struct PackBlocks;                        // block_format.h
struct QuantizedRight;                    // gemm_int8.h
struct SelectQuantized;                   // gemm_int8.h
struct QuantizedGemm;                     // gemm_int8.h
struct QuantizedTopK;                     // quantized_top_k.h
struct PackMemory;                        // memory_attention.h
struct MemoryAttention;                   // memory_attention.h
struct ProjectedCrossEntropy;             // projected_loss.h
struct ProjectedGradients;                // projected_loss.h
struct Rotary;                            // rotary.h
struct ShortConvolution;                  // recurrence.h
struct GatedDelta;                        // recurrence.h
struct GatedDeltaGradient;                // recurrence.h
struct StateSpace;                        // recurrence.h
struct StateSpaceGradient;                // recurrence.h
struct Ssru;                              // ssru.h
struct SsruGradient;                      // ssru.h

struct Kernels {
  std::string_view name;  ///< "generic" (SSSE3), "avx2", "avx512", "avx512_vnni", "avx512_bf16", "amx"

  // --- vectors of n values ---
  void (*add)(const float* a, const float* b, float* y, std::size_t n);  ///< y = a + b
  void (*axpy)(float alpha, const float* x, float* y, std::size_t n);    ///< y += alpha x
  void (*scale)(float alpha, const float* x, float* y, std::size_t n);   ///< y = alpha x
  void (*fill)(float value, float* y, std::size_t n);
  void (*copy)(const void* x, void* y, std::size_t bytes);
  double (*sum_squares)(const float* x, std::size_t n);                 ///< sums in double
  void (*round_bf16)(const float* x, std::uint16_t* y, std::size_t n);  ///< to the nearest, ties to even (base/half.h)
  void (*widen_bf16)(const std::uint16_t* x, float* y, std::size_t n);  ///< exactly
  void (*dropout)(Dropout d, const float* x, float* y, std::size_t n);  ///< y = drop(x); also the gradient
  void (*add_dropout)(Dropout d, const float* h, const float* x, float* y, std::size_t n);  ///< y = h + drop(x)
  void (*axpy_dropout)(Dropout d, const float* dy, float* dx, std::size_t n);               ///< dx += drop(dy)
  void (*activate)(Activation f, const float* x, float* y, std::size_t n);  ///< y = f(x); in place allowed
  /// dx = dy * f'(x), or dx += with accumulate. For relu, x may be f's output instead of its input.
  void (*activate_backward)(Activation f, const float* x, const float* dy, float* dx, bool accumulate, std::size_t n);
  /// y = f(gate) * up [Shazeer 2020, eq. 5-6]
  void (*gated)(Activation f, const float* gate, const float* up, float* y, std::size_t n);
  void (*gated_backward)(Activation f, const float* gate, const float* up, const float* dy, float* d_gate, float* d_up,
                         bool accumulate, std::size_t n);
  void (*softcap)(float cap, const float* x, float* y, std::size_t n);  ///< y = cap tanh(x / cap); in place allowed
  /// dx = dy (1 - (y / cap)^2), or dx += with accumulate; dx may be dy.
  void (*softcap_backward)(float cap, const float* y, const float* dy, float* dx, bool accumulate, std::size_t n);
  void (*clamp)(float low, float high, const float* x, float* y, std::size_t n);  ///< y = min(max(x, low), high)
  /// dx = dy where low <= x <= high and zero elsewhere, or dx += with accumulate.
  void (*clamp_backward)(float low, float high, const float* x, const float* dy, float* dx, bool accumulate,
                         std::size_t n);
  float (*dot)(const float* a, const float* b, std::size_t n);
  void (*adam)(const Adam& a, float* w, float* m, float* v, const float* g, std::size_t n);
  void (*lion)(const Lion& l, float* w, float* m, const float* g, std::size_t n);
  /// row [rows], column [cols]: the state; scratch holds rows + cols floats.
  void (*adafactor_matrix)(const Adafactor& a, float* w, float* row, float* column, float* g, std::size_t rows,
                           std::size_t cols, float* scratch);
  void (*adafactor_vector)(const Adafactor& a, float* w, float* v, float* g, std::size_t n);
  /// y[i] += deviation * (normal number i of the stream)
  void (*add_normal)(RandomKey key, float deviation, float* y, std::size_t n);

  // --- matrices [rows, cols]; strides in floats ---
  /// C = A B (+ C): see gemm.h. The only kernel that may start threads, allocate inside its library, and throw.
  void (*gemm)(const Gemm& g);
  /// Rounds a matrix to bfloat16 and packs it as a right operand.
  void (*pack_right)(const PackRight& p);
  /// y [columns, k] = columns ids[i] of a packed right operand of k rows.
  void (*gather_packed)(const std::uint16_t* b, std::size_t k, const std::int32_t* ids, float* y, std::size_t columns);
  /// The same two for compact operands.
  void (*pack_compact)(const PackCompact& p);
  void (*gather_compact)(const CompactRight& b, std::size_t k, const std::int32_t* ids, float* y, std::size_t columns);
  bool prefers_compact = false;  ///< products with few rows are faster if the weight is compact: see compact_bf16.h
  /// y = residual + drop(f(A B + bias)) with operands rounded to bfloat16: see gemm_bf16.h.
  void (*packed_gemm)(const PackedGemm& g);
  /// Rounds the rows of x to 8 bits: q [rows, int8_depth(k)], scales [rows]; see gemm_int8.h.
  void (*quantize_rows)(const float* x, std::size_t stride, std::size_t rows, std::size_t k, std::int8_t* q,
                        float* scales);
  void (*pack_quantized)(const PackQuantized& p);
  /// Packs rows of a file's blocks: see block_format.h. False if one of their scales is infinite or NaN.
  bool (*pack_blocks)(const PackBlocks& p);
  /// y [rows, k] = scale * rows ids[i] of a packed weight.
  void (*gather_quantized)(const QuantizedRight& b, const std::int32_t* ids, float scale, float* y, std::size_t rows);
  /// Some columns of a packed weight of integers: see gemm_int8.h.
  void (*select_quantized)(const SelectQuantized& s);
  void (*quantized_gemm)(const QuantizedGemm& g);
  /// The best columns of such a product, which is not stored: see quantized_top_k.h.
  void (*quantized_top_k)(const QuantizedTopK& t);
  /// All gradients of a linear map in mixed precision: see linear_gradient.h.
  void (*linear_gradient)(const LinearGradient& g);
  /// y = f(x + bias), bias [cols] or null; in place allowed (y == x).
  void (*bias_activate)(Activation f, const float* x, const float* bias, float* y, std::size_t rows, std::size_t cols);
  /// db[j] += sum_i dy[i, j]
  void (*column_sums)(const float* dy, float* db, std::size_t rows, std::size_t cols);
  /// y [cols, rows] = x^T
  void (*transpose)(const float* x, float* y, std::size_t rows, std::size_t cols);
  /// y[i, :] = x[i, :], with strides
  void (*copy_rows)(const float* x, std::size_t x_stride, float* y, std::size_t y_stride, std::size_t rows,
                    std::size_t cols);
  /// y = g (x - mean) rstd + b; b may be null. Saves mean and rstd [rows] if not null. [Ba et al. 2016, eq. 4]
  void (*layer_norm)(const float* x, const float* g, const float* b, float eps, float* y, float* mean, float* rstd,
                     std::size_t rows, std::size_t cols);
  /// dx (accumulated or stored), dg +=, db += (each may be null).
  void (*layer_norm_backward)(const float* x, const float* g, const float* mean, const float* rstd, const float* dy,
                              float* dx, bool accumulate, float* dg, float* db, std::size_t rows, std::size_t cols);
  /// y = g x / sqrt(mean(x^2) + eps) [Zhang & Sennrich 2019, eq. 4]; saves 1 / rms [rows] if not null.
  void (*rms_norm)(const float* x, const float* g, float eps, float* y, float* inv_rms, std::size_t rows,
                   std::size_t cols);
  void (*rms_norm_backward)(const float* x, const float* g, const float* inv_rms, const float* dy, float* dx,
                            bool accumulate, float* dg, std::size_t rows, std::size_t cols);
  /// y[i] = scale * table[ids[i]]
  void (*gather)(const float* table, const std::int32_t* ids, float scale, float* y, std::size_t rows,
                 std::size_t cols);
  /// d_table[ids[i]] += scale * dy[i], except rows with ids[i] == skip (skip -1: none)
  void (*scatter_add)(float* d_table, const std::int32_t* ids, float scale, const float* dy, std::int32_t skip,
                      std::size_t rows, std::size_t cols);
  /// y[i] = x[i] + table[positions[i]]
  void (*add_gathered)(const float* x, const float* table, const std::int32_t* positions, float* y, std::size_t rows,
                       std::size_t cols);
  /// Rotates heads by the positions of their tokens: see rotary.h.
  void (*rotary)(const Rotary& r);

  // --- softmax and losses over rows of logits [rows, cols] ---
  /// y = x - log(sum(exp(x))) by row; in place allowed.
  void (*log_softmax)(const float* x, float* y, std::size_t rows, std::size_t cols);
  /// lse[i] = log(sum(exp(x[i])))
  void (*log_sum_exp)(const float* x, float* lse, std::size_t rows, std::size_t cols);
  /// losses [rows]; also the gradient if d_logits is not null (it may be logits itself).
  void (*cross_entropy)(const CrossEntropy& c, const float* logits, float* losses, float* d_logits, std::size_t rows,
                        std::size_t cols);
  /// Cross-entropy of x W^T + b in mixed precision: see projected_loss.h. losses [rows].
  void (*projected_cross_entropy)(const ProjectedCrossEntropy& p, float* losses);
  void (*projected_cross_entropy_backward)(const ProjectedCrossEntropy& p, const ProjectedGradients& g);
  /// losses[i] = weights[i] T^2 KL(softmax(teacher / T) || softmax(student / T)) [Hinton et al. 2015]; d_student
  /// (may be null or student) = gradient_scale * weights[i] * T * (softmax(student/T) - softmax(teacher/T)). A
  /// row with weight zero is skipped.
  void (*distillation)(const float* student, const float* teacher, const float* weights, float temperature,
                       float gradient_scale, float* losses, float* d_student, std::size_t rows, std::size_t cols);
  /// With the cross-entropies CE_a and CE_b of two rows of logits against one target, and their softmaxes p and
  /// q: losses[i] = weight_i [ (CE_a + CE_b) / 2 + alpha / 4 (KL(p || q) + KL(q || p)) ] [Liang et al. 2021];
  /// with `gradients` both logits are overwritten by their gradients.
  void (*r_drop)(const CrossEntropy& c, float alpha, float* a, float* b, float* losses, bool gradients,
                 std::size_t rows, std::size_t cols);
  /// The k largest of each row, largest first (ties: smaller index first): values and indices [rows, k]; k <= cols.
  void (*top_k)(const float* x, std::size_t rows, std::size_t cols, std::size_t k, float* values,
                std::int32_t* indices);

  // --- attention ---
  /// Floats of scratch for attention, attention_backward and attention_weights with these sizes, for any lengths.
  std::size_t (*attention_scratch)(std::size_t d_k, std::size_t d_v);
  /// out [tokens of q, heads * d_v] with stride; lse [tokens of q, heads] or null.
  void (*attention)(const Attention& a, float* out, std::size_t out_stride, float* lse, float* scratch);
  void (*attention_backward)(const Attention& a, const AttentionGradient& g, float* scratch);
  /// The weights before dropout: row r's [heads, q_len, k_len], row after row.
  void (*attention_weights)(const Attention& a, const float* lse, float* weights, float* scratch);
  /// Floats of scratch for cached_attention.
  std::size_t (*cached_attention_scratch)(const CachedAttention& a);
  /// out [queries, heads * d_v] with stride
  void (*cached_attention)(const CachedAttention& a, float* out, std::size_t out_stride, float* scratch);
  /// Packs keys and values of a memory; attention of queries to them: see memory_attention.h.
  void (*pack_memory)(const PackMemory& p);
  void (*memory_attention)(const MemoryAttention& a, float* out, std::size_t out_stride, float* scratch);
  void (*quantize_slots)(const QuantizeSlots& x);
  /// weights: [q_len, k_len] of each row, row after row. scratch: as many floats as the longest row has keys.
  void (*mean_attention)(const MeanAttention& a, float* weights, float* scratch);
  /// Adds to dq and dk. scratch: as many floats as the longest row has keys, plus d_k.
  void (*mean_attention_backward)(const MeanAttention& a, const float* d_weights, float* dq, std::size_t dq_stride,
                                  float* dk, std::size_t dk_stride, float* scratch);
  /// losses [queries of all rows in order], and if d_weights is not null the gradient of gradient_scale * their
  /// sum. wanted: in the layout of weights; queries whose wanted weights are all zero cost nothing.
  void (*alignment_loss)(AlignmentCost cost, const RowSpan* rows, std::size_t num_rows, const float* weights,
                         const float* wanted, float gradient_scale, float* losses, float* d_weights);

  /// Floats of scratch for the three functions below.
  std::size_t (*linear_attention_scratch)(std::size_t d_k, std::size_t d_v);
  void (*linear_attention)(const LinearAttention& a, float* out, std::size_t out_stride, float* scratch);
  /// Recomputes S and z; d_out, dq, dk, dv have the strides of out, q, k, v; results are stored, or added with
  /// accumulate.
  void (*linear_attention_backward)(const LinearAttention& a, const float* d_out, std::size_t d_out_stride, float* dq,
                                    std::size_t dq_stride, float* dk, std::size_t dk_stride, float* dv,
                                    std::size_t dv_stride, bool accumulate, float* scratch);
  /// The next tokens of each row, one after the other: adds k, v to state [rows, heads, d_k * d_v + d_k] (S then
  /// z) and computes y for q.
  void (*linear_attention_step)(const LinearAttention& a, float* state, float* out, std::size_t out_stride);

  // --- recurrences, one row at a time: see recurrence.h ---
  /// y [tokens, width] with stride
  void (*short_convolution)(const ShortConvolution& a, float* y, std::size_t y_stride);
  /// dx, for rows without earlier tokens: `before` is null.
  void (*short_convolution_backward)(const ShortConvolution& a, const float* dy, std::size_t dy_stride, float* dx,
                                     std::size_t dx_stride, bool accumulate);
  /// Adds to dw [taps, width], which has w's stride.
  void (*short_convolution_weights)(const ShortConvolution& a, const float* dy, std::size_t dy_stride, float* dw);
  /// Floats of scratch for gated_delta.
  std::size_t (*gated_delta_scratch)(std::size_t d_k);
  /// The next tokens of one head of one row: y [tokens, d_v] with stride. state [d_k, d_v] is updated; null: the row
  /// begins with zeros, and its final state is not stored.
  void (*gated_delta)(const GatedDelta& a, float* state, float* y, std::size_t y_stride, float* scratch);
  std::size_t (*gated_delta_backward_scratch)(std::size_t d_k, std::size_t tokens);
  /// The gradient for a row that began with a state of zeros; recomputes the states.
  void (*gated_delta_backward)(const GatedDelta& a, const GatedDeltaGradient& g, float* scratch);
  /// decay [tokens, heads] = exp(-exp(log_rate) softplus(a + bias)) [Gu & Dao 2024, section 3.5.2]: a has a stride,
  /// log_rate and bias [heads].
  void (*delta_decay)(const float* a, std::size_t a_stride, const float* log_rate, const float* bias, float* decay,
                      std::size_t tokens, std::size_t heads);
  /// da, and each token's contribution to d log_rate; both [tokens, heads]. da is d bias of each token too.
  void (*delta_decay_backward)(const float* a, std::size_t a_stride, const float* log_rate, const float* bias,
                               const float* d_decay, float* da, float* d_log_rate, std::size_t tokens,
                               std::size_t heads);
  void (*ssru)(const Ssru& a);
  void (*ssru_backward)(const SsruGradient& g);
  /// Floats of scratch for state_space.
  std::size_t (*state_space_scratch)(std::size_t d_state);
  /// The next tokens of one head of one row: y [tokens, d_head] with stride. state [d_state, d_head] as that of gated_delta.
  void (*state_space)(const StateSpace& a, float* state, float* y, std::size_t y_stride, float* scratch);
  std::size_t (*state_space_backward_scratch)(std::size_t d_state, std::size_t tokens);
  /// The gradient for a row that began with a state of zeros; recomputes the states.
  void (*state_space_backward)(const StateSpace& a, const StateSpaceGradient& g, float* scratch);
  /// dt [tokens, heads] = softplus(raw + bias) and decay [tokens, heads] = exp(-exp(log_rate) dt): raw has a stride, log_rate
  /// and bias [heads].
  void (*state_steps)(const float* raw, std::size_t raw_stride, const float* bias, const float* log_rate, float* dt,
                      float* decay, std::size_t tokens, std::size_t heads);
  /// d_raw, and each token's contribution to d log_rate; both [tokens, heads]. d_raw is d bias of each token too.
  void (*state_steps_backward)(const float* raw, std::size_t raw_stride, const float* bias, const float* log_rate,
                               const float* d_dt, const float* d_decay, float* d_raw, float* d_log_rate,
                               std::size_t tokens, std::size_t heads);
};

/// The tables that this processor can run, slowest first.
std::span<const Kernels* const> tables();
/// The fastest of them, or the one named by the environment variable TRIL_INSTRUCTION_SET.
/// @throws Error(usage) if that names none of them
const Kernels& best();
/// The table of this name; null if this processor cannot run it or there is none.
const Kernels* table(std::string_view name);

}  // namespace tril::kern
