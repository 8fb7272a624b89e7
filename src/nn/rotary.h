// Rotary positions: queries and keys are rotated by angles proportional to their positions, so that a score depends
// only on their distance [Su et al. 2021]. Also the changes of frequencies by which published models extend their
// context beyond the training length, computed as in `transformers`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/rotary.h"

namespace tril::nn {

/// How the angles of a row depend on its length.
struct LengthDependence {
  std::int64_t beyond = 0;  ///< rows of more tokens use other angles; 0: none do
  bool read_anew = false;   ///< a row that grows beyond that needs a new prefill from its first token
};

struct RotaryOptions {
  enum class Scaling : std::uint8_t {
    none,      ///< f_i = theta^(-2i/dim) [Su et al. 2021, section 3.2.2]
    linear,    ///< f_i / factor [Chen et al. 2023, eq. 4]
    dynamic,   ///< theta grows with a row's length beyond `original` tokens [bloc97; emozilla 2023]
    llama3,    ///< f_i / factor for long waves, f_i for short ones, a blend between [Llama 3.1, 2024]
    yarn,      ///< the same by a ramp over the pairs, and a temperature [Peng et al. 2023, NTK-by-parts, and its code]
    alpha,     ///< theta alpha^(dim / (dim - 2)), whatever the length; alpha is `factor` [Hunyuan, 2025]
    longrope,  ///< each frequency divided by a factor of its own: another for rows beyond `original` [Ding et al. 2024]
    proportional,  ///< f_i / factor for the first `turned` / 2 pairs, 0 for the others, which keep their values [Gemma 4, 2026]
  };
  std::int64_t dim = 0;  ///< rotated values of each head; even
  double theta = 10000;
  Scaling scaling = Scaling::none;
  double factor = 1;
  std::int64_t original = 0;                         ///< the context length before scaling, in tokens
  double low_freq_factor = 1, high_freq_factor = 4;  ///< llama3: wavelengths original / these limit the blend
  double beta_fast = 32, beta_slow = 1;              ///< yarn: turns within `original` that limit the ramp
  bool truncate = true;                              ///< yarn: the ramp ends at whole pairs
  double mscale_all_dim = 0;                         ///< yarn: scores are multiplied by score_factor() too
  double attention_factor = 1;                       ///< factor of cosines and sines: scores get its square
  std::int64_t turned = 0;                           ///< proportional: the number of values whose angles grow; even
  std::vector<double> short_factors, long_factors;   ///< longrope: [dim / 2]
  bool read_anew = false;    ///< longrope: see LengthDependence; false: cached keys keep their angles
  bool interleaved = false;  ///< pairs (2i, 2i + 1) instead of (i, i + dim/2)
  bool reversed = false;     ///< angles are negative
  /// beta: queries at position p are also multiplied by 1 + beta log(1 + floor(p / original)) [Llama 4, 2025]; 0: not.
  double query_beta = 0;

  /// (0.1 mscale_all_dim ln(factor) + 1)^2, or 1 without [DeepSeek-V2, 2024, section 3.1.4, and its code].
  double score_factor() const;
  /// True if a token's angle also depends on the length of its row.
  bool depends_on_length() const { return scaling == Scaling::dynamic || scaling == Scaling::longrope; }
  LengthDependence length_dependence() const { return {depends_on_length() ? original : 0, read_anew}; }
};

/// The frequencies [dim / 2] for rows of up to `length` tokens.
std::vector<float> rotary_frequencies(const RotaryOptions& options, std::int64_t length);

class RotaryPositions {
 public:
  RotaryPositions() = default;
  /// @param kept  positions whose angles are precomputed; later ones are computed on demand
  explicit RotaryPositions(RotaryOptions options, std::int64_t kept = 4096);

  const RotaryOptions& options() const { return options_; }
  /// The angles of these rows' tokens. If they depend on the length, a token of the prompt uses the length of the
  /// whole prompt, and a later token the length of the row up to itself. So cached keys keep their angles, however the
  /// prompt was split into chunks.
  /// @param prompt_lengths  [rows]; empty: all tokens up to the end of these rows are prompt
  ops::Rotation rotation(Context& c, const Rows& rows, std::span<const std::int32_t> prompt_lengths = {}) const;
  /// The angles of queries if they are scaled by their positions; none if rotation() applies to queries too.
  ops::Rotation query_rotation(Context& c, const Rows& rows) const;

 private:
  void check_grows(std::int64_t start, std::int64_t end, std::int64_t prompt_length) const;
  void fill(std::vector<float>& table, std::span<const std::int32_t> positions,
            const std::vector<float>& frequencies) const;

  RotaryOptions options_;
  Tensor kept_;  // [kept, dim], for rows of up to `original` tokens if lengths matter
};

}  // namespace tril::nn
