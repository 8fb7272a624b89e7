#include "nn/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "ops/transpose.h"

namespace tril::nn {

// In float32 throughout, as the authors' framework has it: where the logarithm meets a whole number, rounding decides.
std::int32_t relative_bucket(std::int64_t distance, bool bidirectional, std::int64_t num_buckets,
                             std::int64_t max_distance) {
  std::int64_t first = 0, n = num_buckets;
  if (bidirectional) {
    n /= 2;
    if (distance > 0) first = n;
  }
  const std::int64_t far = bidirectional ? std::abs(distance) : std::max<std::int64_t>(-distance, 0), exact = n / 2;
  if (far < exact) return static_cast<std::int32_t>(first + far);
  const double octaves = std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  const float share = std::log(static_cast<float>(far) / static_cast<float>(exact)) / static_cast<float>(octaves);
  const auto beyond = static_cast<std::int64_t>(share * static_cast<float>(n - exact));
  return static_cast<std::int32_t>(first + std::min(exact + beyond, n - 1));
}

RelativeBias::RelativeBias(Parameters& p, const std::string& name, const Options& options)
    : table_(&p.add(name, {options.num_buckets, options.num_heads}, Init::normal(options.deviation))),
      options_(options) {
  const std::int64_t exact = options.num_buckets / (options.bidirectional ? 4 : 2);
  check(exact > 0 && options.max_distance > exact, name,
        "{} buckets for distances up to {}: at least one bucket is needed, and the distances must exceed the buckets "
        "of one distance each",
        options.num_buckets, options.max_distance);
}

ops::RelativeBias RelativeBias::forward(Context& c, std::int64_t queries, std::int64_t keys) const {
  std::vector<std::int32_t> buckets;
  for (std::int64_t r = 1 - std::max<std::int64_t>(keys, 1); r < std::max<std::int64_t>(queries, 1); ++r)
    buckets.push_back(relative_bucket(r, options_.bidirectional, options_.num_buckets, options_.max_distance));
  const Tensor by_distance = ops::embedding(c, table_->value, c.upload(buckets), 1.0f, -1);
  return {ops::transpose(c, by_distance), std::max<std::int64_t>(keys, 1) - 1};
}

}  // namespace tril::nn
