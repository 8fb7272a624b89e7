// Positions told to self-attention alone: a number for each head and distance, added to the score of a query and a key.
#pragma once

#include <string>

#include "nn/parameters.h"

namespace tril::nn {

/// The bucket of the distance r = key - query in T5's bias [Raffel et al. 2020, section 2.1, and its code]: near
/// distances have one each, farther ones share them by the logarithm up to max_distance, beyond which all are one.
/// Where keys may stand behind the query too (`bidirectional`) half the buckets are theirs, otherwise those have 0's.
std::int32_t relative_bucket(std::int64_t distance, bool bidirectional, std::int64_t num_buckets,
                             std::int64_t max_distance);

/// b[h, r] = w[bucket(r), h], the same in all layers of a stack [Raffel et al. 2020, section 2.1].
class RelativeBias {
 public:
  struct Options {
    std::int64_t num_heads = 1, num_buckets = 32, max_distance = 128;
    bool bidirectional = true;
    double deviation = 1;  ///< of the normal distribution that w starts from
  };
  RelativeBias() = default;
  /// Declares `name` [num_buckets, num_heads].
  RelativeBias(Parameters& p, const std::string& name, const Options& options);

  /// For rows of at most so many queries and keys.
  ops::RelativeBias forward(Context& c, std::int64_t queries, std::int64_t keys) const;

 private:
  Parameter* table_ = nullptr;
  Options options_;
};

}  // namespace tril::nn
