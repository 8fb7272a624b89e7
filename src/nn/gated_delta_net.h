// The gated delta rule as a layer, in place of attention [Yang et al. 2025, "Gated Delta Networks"].
#pragma once

#include <string>

#include "nn/head_norm.h"
#include "nn/short_convolution.h"

namespace tril::nn {

/// [q, k, v] = silu(conv(x W_qkv^T)),  z = x W_z^T,  b = sigmoid(x W_b^T),  a = exp(-exp(A_log) softplus(x W_a^T + dt_bias)),
/// y = (norm(delta(q / |q|, k / |k|, v, a, b)) * silu(z)) W_out^T, the norm over each head [Yang et al. 2025, section 3.4;
/// Qwen3-Next, 2025]. The two small products of the gates stay in float32 in every precision.
class GatedDeltaNet {
 public:
  struct Options {
    std::int64_t d_model = 0;
    std::int64_t num_key_heads = 1, num_heads = 1;  ///< num_heads: of values
    std::int64_t d_k = 0, d_v = 0;                  ///< of each head
    std::int64_t taps = 4;
    ops::Activation activation = ops::Activation::silu;  ///< after the convolution
    float norm_eps = 1e-6f;
    /// One matrix in_proj_qkvz and one in_proj_ba: q, k, v, z and b, a. Else in_proj_qkv, in_proj_z, in_proj_b, in_proj_a.
    bool fused = false;
  };
  GatedDeltaNet() = default;
  /// Declares its weights under `prefix`; its last component is the scope name.
  GatedDeltaNet(Parameters& p, const std::string& prefix, const Options& options);

  /// As Attention::self().
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// The cache layout that it needs.
  KvCache::Layer kept() const { return {.state_size = convolution_.state_size() + matrix_size()}; }

 private:
  std::int64_t key_size() const { return o_.num_key_heads * o_.d_k; }
  std::int64_t value_size() const { return o_.num_heads * o_.d_v; }
  std::int64_t qkv_size() const { return 2 * key_size() + value_size(); }
  std::int64_t matrix_size() const;
  /// The products with x.
  struct Projected {
    Tensor qkv, z, b, a;
  };
  Projected projected(Context& c, const Tensor& x) const;
  Tensor delta(Context& c, const Projected& from, const Rows& rows, const ops::States& states) const;

  Options o_;
  std::string name_;
  Linear qkvz_, ba_, qkv_, z_, b_, a_, out_;
  const Stack* stack_ = nullptr;  // of qkv and z if they are separate
  CausalConvolution convolution_;
  HeadNorm unit_;  // of keys and queries
  Norm norm_;
  Parameter *log_rate_ = nullptr, *dt_bias_ = nullptr;
};

}  // namespace tril::nn
