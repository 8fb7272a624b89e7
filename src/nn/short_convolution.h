// Short convolutions of channels over time, in place of attention or before a recurrence.
#pragma once

#include <string>

#include "nn/attention.h"
#include "nn/layers.h"
#include "ops/short_convolution.h"

namespace tril::nn {

/// Each channel with its own taps: ops::short_convolution.
class CausalConvolution {
 public:
  struct Options {
    std::int64_t width = 0, taps = 1;
    bool bias = false;
  };
  CausalConvolution() = default;
  /// Declares name.weight [width, 1, taps] and, if requested, name.bias [width].
  CausalConvolution(Parameters& p, const std::string& name, const Options& options);

  /// x [N, width] -> [N, width]
  Tensor forward(Context& c, const Tensor& x, const Rows& rows, const ops::States& states) const;
  std::int64_t state_size() const { return ops::short_convolution_state(o_.taps, o_.width); }

 private:
  Options o_;
  Parameter *weight_ = nullptr, *bias_ = nullptr;
};

/// [B, C, X] = x W_in^T,  y = (C * conv(B * X)) W_out^T: a gate before the convolution and one after it
/// [LFM2, Liquid AI 2025, section 2.1].
class GatedShortConvolution {
 public:
  struct Options {
    std::int64_t d_model = 0, taps = 3;
    bool bias = false;  ///< of both products and of the convolution
    std::string in = "in_proj", convolution = "conv", out = "out_proj";
  };
  GatedShortConvolution() = default;
  /// Declares its weights under `prefix`; its last component is the scope name.
  GatedShortConvolution(Parameters& p, const std::string& prefix, const Options& options);

  /// As Attention::self().
  Tensor self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
              const ops::LinearOptions& out = {}) const;
  /// The cache layout that it needs.
  KvCache::Layer kept() const { return {.state_size = convolution_.state_size()}; }

 private:
  std::string name_;
  std::int64_t d_model_ = 0;
  Linear in_, out_;
  CausalConvolution convolution_;
};

}  // namespace tril::nn
