// Norms of the queries or keys of attention [Henry et al. 2020; Dehghani et al. 2023, section 2].
#pragma once

#include <string>
#include <vector>

#include "nn/layers.h"

namespace tril::nn {

/// Normalises x [N, heads * d].
class HeadNorm {
 public:
  enum class Over : std::uint8_t {
    none,        ///< x stays as it is
    head,        ///< each head by itself, all with one weight [d]
    own_weight,  ///< each head by itself, with its own row of a weight [heads, d]
    own_tensor,  ///< likewise, and the rows are weights of their own: name.norms.0.weight, ...
    projection,  ///< all heads together, with a weight [heads * d]
  };
  struct Options {
    Over over = Over::none;
    Norm::Kind kind = Norm::Kind::rms;  ///< own_weight and own_tensor: layer_unbiased
    float eps = 1e-6f;
  };
  /// [heads * d]
  struct Sizes {
    std::int64_t heads = 1, d = 0;
  };
  HeadNorm() = default;
  /// Declares its weights under `name`.
  HeadNorm(Parameters& p, const std::string& name, Sizes sizes, const Options& options);

  explicit operator bool() const { return options_.over != Over::none; }
  Tensor forward(Context& c, const Tensor& x) const;

 private:
  Options options_;
  Sizes sizes_;
  std::vector<Norm> norms_;
  Parameter* weight_ = nullptr;  // own_weight
};

}  // namespace tril::nn
