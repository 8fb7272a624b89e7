// Mamba-2 as a layer, in place of attention [Dao & Gu 2024, "Transformers are SSMs"].
#pragma once

#include <array>
#include <string>

#include "nn/layers.h"
#include "nn/short_convolution.h"

namespace tril::nn {

/// [z, x, B, C, dt] = m * (s x W_in^T),  [x, B, C] = f(conv([x, B, C])),  y = scan(x, B, C, dt) (ops::state_space()),
/// result = norm(y * silu(z)) W_out^T [Dao & Gu 2024, section 8; with the factors m and s: Falcon-H1, 2025, section 2.3].
class Mamba2 {
 public:
  /// Where the norm of y is: RMS over each group of heads.
  enum class GatedNorm : std::uint8_t {
    none,        ///< y * silu(z)
    after_gate,  ///< norm(y * silu(z))
    before_gate  ///< norm(y) * silu(z)
  };
  struct Options {
    std::int64_t d_model = 0;
    std::int64_t num_heads = 1, groups = 1;  ///< groups of heads share B and C
    std::int64_t d_head = 0, d_state = 0;
    std::int64_t taps = 4;
    bool conv_bias = true, in_bias = false, out_bias = false;
    ops::Activation activation = ops::Activation::silu;  ///< f
    GatedNorm norm = GatedNorm::after_gate;
    float norm_eps = 1e-5f;
    float input_scale = 1;                            ///< s
    std::array<float, 5> part_scales{1, 1, 1, 1, 1};  ///< m, of z, x, B, C, dt
  };
  Mamba2() = default;
  /// Declares its weights under `prefix`; its last component is the scope name.
  Mamba2(Parameters& p, const std::string& prefix, const Options& options);

  /// As Attention::self().
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// The cache layout that it needs.
  KvCache::Layer kept() const { return {.state_size = convolution_.state_size() + matrix_size()}; }

 private:
  std::int64_t inner() const { return o_.num_heads * o_.d_head; }
  std::int64_t mixed() const { return inner() + 2 * o_.groups * o_.d_state; }  // the width of [x, B, C]
  std::int64_t matrix_size() const;
  Tensor projected(Context& c, const Tensor& x) const;
  Tensor scan(Context& c, const Tensor& projected, const Rows& rows, const ops::States& states) const;
  Tensor normed(Context& c, const Tensor& y) const;

  Options o_;
  std::string name_;
  Linear in_, out_;
  CausalConvolution convolution_;
  Tensor scales_;  // o_.part_scales by column of the projection; none if all are 1
  Norm norm_;      // of a group, without a weight
  Parameter *weight_ = nullptr, *log_rate_ = nullptr, *skip_ = nullptr, *dt_bias_ = nullptr;
};

}  // namespace tril::nn
