// Positions that are added to token embeddings.
#pragma once

#include <string>

#include "nn/parameters.h"

namespace tril::nn {

/// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same) [Vaswani et al. 2017, section 3.5], at any
/// position: the first `kept` are precomputed, later ones computed on demand. PE(pos + k) is a rotation of PE(pos).
class SinusoidalPositions {
 public:
  enum class Layout : std::uint8_t {
    interleaved,   ///< sin, cos, sin, cos, ... as in the paper
    concatenated,  ///< all sines, then all cosines, as in the authors' code and Marian
    /// concatenated, with 10000^(i/(d/2-1)) in place of 10000^(2i/d): the last sine is that of pos / 10000
    /// itself, as in the authors' Tensor2Tensor and in fairseq
    tensor2tensor,
  };
  SinusoidalPositions() = default;
  /// @param first  the value used for position 0
  SinusoidalPositions(std::int64_t d_model, Layout layout, std::int64_t kept = 1024, std::int32_t first = 0);

  /// x + PE: x [N, d_model], positions [N].
  Tensor forward(Context& c, const Tensor& x, std::span<const std::int32_t> positions) const;
  /// Rows [0, count) of PE as values.
  std::vector<float> table(std::int64_t count) const;

 private:
  std::vector<float> at(std::span<const std::int32_t> positions) const;  // the rows of PE for these positions

  std::int64_t d_model_ = 0;
  Layout layout_ = Layout::interleaved;
  std::int32_t first_ = 0;
  Tensor kept_;  // [kept, d_model]
};

/// x + table[position], learned; a position beyond the table is an Error.
class LearnedPositions {
 public:
  struct Options {
    std::int64_t length = 0, d_model = 0;
    double deviation = 0.02;  ///< of the initial values
    std::int64_t offset = 0;  ///< the row of position 0
  };
  LearnedPositions() = default;
  /// Declares `name` [offset + length, d_model].
  LearnedPositions(Parameters& p, const std::string& name, const Options& options);

  Tensor forward(Context& c, const Tensor& x, std::span<const std::int32_t> positions) const;

 private:
  Parameter* table_ = nullptr;
  std::int32_t offset_ = 0;
};

}  // namespace tril::nn
