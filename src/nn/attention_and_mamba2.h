// Attention and Mamba-2 side by side in one layer [Falcon-H1, 2025, section 2.1].
#pragma once

#include <string>

#include "nn/attention.h"
#include "nn/mamba2.h"

namespace tril::nn {

/// y = p Attention(x) + q Mamba2(x). The cache of the layer holds keys and values, and a state.
class AttentionAndMamba2 {
 public:
  struct Options {
    Attention::Options attention;
    Mamba2::Options mamba;
    float attention_scale = 1, mamba_scale = 1;  ///< p, q
    std::string attention_name = "self_attn", mamba_name = "mamba";
  };
  AttentionAndMamba2() = default;
  /// Declares the weights of both under `prefix`.
  AttentionAndMamba2(Parameters& p, const std::string& prefix, const Options& options);

  /// As Attention::self().
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// The cache layout that it needs.
  KvCache::Layer kept() const;

 private:
  Attention attention_;
  Mamba2 mamba_;
  float attention_scale_ = 1, mamba_scale_ = 1;
};

}  // namespace tril::nn
