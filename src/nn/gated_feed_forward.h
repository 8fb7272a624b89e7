// The feed-forward layer of Llama and most later models.
#pragma once

#include <optional>

#include "nn/layers.h"
#include "ops/clamped_gate.h"

namespace tril::nn {

/// FF(x) = (f(x W_gate^T) * (x W_up^T)) W_down^T [Shazeer 2020, eq. 6], with optional biases, dropout and residual. Without a
/// gate, FF(x) = f(x W_up^T) W_down^T.
class GatedFeedForward {
 public:
  struct Options {
    std::int64_t d_model = 0, d_ff = 0;
    ops::Activation activation = ops::Activation::silu;
    bool bias = false;
    bool gates = true;  ///< false: there is no gate
    float dropout = 0;  ///< before the last product
    std::string gate = "gate_proj", up = "up_proj", down = "down_proj";
    std::string inner_norm;               ///< name of an RMSNorm before the last product; "": none
    float norm_eps = 1e-6f;               ///< of that norm
    std::string gate_up;                  ///< name of one matrix for both, gate's rows first; "": two matrices
    std::optional<ops::GateClamp> clamp;  ///< ops::clamped_gate() in place of f(gate) * up; needs gate_up
    float limit = 0;                      ///< ops::clamped_swiglu() in place of f(gate) * up; 0: no bounds
    float gate_scale = 1;                 ///< f(s gate) in place of f(gate)
    float result_scale = 1;               ///< factor of the result
  };
  GatedFeedForward() = default;
  /// Declares the projections under `prefix`; its last component is the scope name.
  GatedFeedForward(Parameters& p, const std::string& prefix, const Options& options);

  Tensor forward(Context& c, const Tensor& x, const ops::LinearOptions& out = {}) const;
  const Linear& down() const { return down_; }

 private:
  std::string name_;
  Linear gate_, up_, gate_up_, down_;
  const Stack* stack_ = nullptr;  // of gate and up if they are separate
  ops::Activation activation_ = ops::Activation::silu;
  std::optional<Norm> inner_norm_;
  std::optional<ops::GateClamp> clamp_;
  float limit_ = 0;
  float dropout_ = 0;
  float gate_scale_ = 1, result_scale_ = 1;
  bool gates_ = true;
};

}  // namespace tril::nn
