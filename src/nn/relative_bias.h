// Relative positions: a number for each head and distance, added to the self-attention score of a query and a key.
#pragma once

#include <string>
#include <vector>

#include "nn/parameters.h"

namespace tril::nn {

/// The bucket of the distance r = key - query in T5's bias [Raffel et al. 2020, section 2.1, and its code]. Near
/// distances have one bucket each; farther ones share buckets on a logarithmic scale up to max_distance, and all
/// beyond share one. If `bidirectional`, half the buckets are for keys after the query; otherwise those use the
/// bucket of distance 0.
std::int32_t relative_bucket(std::int64_t distance, bool bidirectional, std::int64_t num_buckets,
                             std::int64_t max_distance);

/// The slopes m_h = 2^(-8 h / n), h = 1 .. n, of n heads, n a power of two [ALiBi: Press et al. 2022, section 3]. For
/// other n, as in the authors' code: those of the next power of two, first every second one and then those between.
std::vector<float> alibi_slopes(std::int64_t num_heads);

/// A number for each head h and distance r = key - query, the same in all layers of a stack: b[h, r] = w[bucket(r), h]
/// learned [Raffel et al. 2020, section 2.1], or b[h, r] = m_h r [Press et al. 2022, section 3].
class RelativeBias {
 public:
  struct Options {
    std::int64_t num_heads = 1, num_buckets = 32, max_distance = 128;
    bool bidirectional = true;
    double deviation = 1;  ///< standard deviation of w's normal initialisation
  };
  RelativeBias() = default;
  /// Declares `name` [num_buckets, num_heads].
  RelativeBias(Parameters& p, const std::string& name, const Options& options);
  /// @param slopes  m_h of each head
  /// @param kept  number of distances with precomputed biases; others are computed on demand
  explicit RelativeBias(std::vector<float> slopes, std::int64_t kept = 2048);

  /// The bias for rows of at most this many queries and keys.
  ops::RelativeBias forward(Context& c, std::int64_t queries, std::int64_t keys) const;

 private:
  std::vector<float> sloped(std::int64_t queries, std::int64_t keys) const;

  Parameter* table_ = nullptr;
  Options options_;
  std::vector<float> slopes_;
  ops::RelativeBias kept_;  // of slopes: precomputed
};

}  // namespace tril::nn
