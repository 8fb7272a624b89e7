// The small modules: weights and one formula each. A module owns no values; it points to the Parameters that it
// declared.
#pragma once

#include <optional>
#include <string>

#include "nn/parameters.h"
#include "nn/xielu.h"

namespace tril::nn {

/// y = residual + dropout(f(x W^T + b)).
class Linear {
 public:
  struct Options {
    bool bias = true;
    std::int64_t depth = 1;  ///< number of its layer within the stack, for initialisation (Init::at_depth)
  };
  Linear() = default;
  /// Declares name.weight [out, in] and, if requested, name.bias [out].
  Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out, const Options& options);
  Linear(Parameters& p, const std::string& name, std::int64_t in, std::int64_t out)
      : Linear(p, name, in, out, Options()) {}

  Tensor forward(Context& c, const Tensor& x, const ops::LinearOptions& options = {}) const;
  Parameter* weight() const { return weight_; }
  Parameter* bias() const { return bias_; }

 private:
  Parameter *weight_ = nullptr, *bias_ = nullptr;
};

/// The products of x [N, in] with matrix `first` of a stack and with those below it, side by side; Stack::from is not
/// empty.
Tensor forward(Context& c, const Tensor& x, const Stack& stack, std::size_t first);

/// LayerNorm or RMSNorm over the last dimension.
class Norm {
 public:
  enum class Kind : std::uint8_t {
    layer,           ///< with weight and bias
    layer_unbiased,  ///< with a weight only
    layer_plain,     ///< without weight and bias
    rms,             ///< with a weight
    rms_plain,       ///< without
  };
  Norm() = default;
  /// Declares name.weight [d] and name.bias [d], if the kind has them.
  Norm(Parameters& p, const std::string& name, std::int64_t d, float eps, Kind kind = Kind::layer);

  Tensor forward(Context& c, const Tensor& x) const;

 private:
  Parameter *weight_ = nullptr, *bias_ = nullptr;
  Tensor ones_;  // in place of a weight
  float eps_ = 1e-5f;
  Kind kind_ = Kind::layer;
};

/// table[ids] * scale; the padding id's row is zero and stays so.
class Embedding {
 public:
  struct Options {
    float scale = 1;
    std::int32_t padding_id = -1;
    double deviation = 1;  ///< standard deviation of the table's normal initialisation
  };
  Embedding() = default;
  /// Declares `name` [vocab, d].
  Embedding(Parameters& p, const std::string& name, std::int64_t vocab, std::int64_t d, Options options);

  Tensor forward(Context& c, std::span<const std::int32_t> ids) const;
  Parameter* table() const { return table_; }
  /// The same table with a scale of one.
  Embedding unscaled() const {
    Embedding e = *this;
    e.options_.scale = 1;
    return e;
  }
  /// The same table for the tokens of an encoder: an adapter may change it for the encoder alone.
  Embedding of_encoder() const {
    Embedding e = *this;
    e.of_encoder_ = true;
    return e;
  }

 private:
  Parameter* table_ = nullptr;
  Options options_;
  bool of_encoder_ = false;
};

/// FF(x) = f(x W1^T + b1) W2^T + b2 [Vaswani et al. 2017, eq. 2], with optional biases, dropout and residual.
class FeedForward {
 public:
  struct Options {
    std::int64_t d_model = 0, d_ff = 0;
    ops::Activation activation = ops::Activation::relu;
    float dropout = 0;  ///< between the two products
    bool bias = true;
    std::int64_t depth = 1;  ///< Linear::Options::depth of both
    std::string first = "fc1", second = "fc2";
    std::string xielu;  ///< name of an Xielu that replaces the activation; "": none
  };
  FeedForward() = default;
  FeedForward(Parameters& p, const std::string& prefix, const Options& options);

  Tensor forward(Context& c, const Tensor& x, const ops::LinearOptions& out = {}) const;

 private:
  Linear first_, second_;
  ops::Activation activation_ = ops::Activation::relu;
  std::optional<Xielu> xielu_;
  float dropout_ = 0;
};

}  // namespace tril::nn
