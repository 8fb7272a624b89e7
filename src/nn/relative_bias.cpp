#include "nn/relative_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "base/as_size.h"
#include "ops/transpose.h"

namespace tril::nn {
namespace {

constexpr std::int64_t most_kept_biases = 1 << 22;  // 16 MiB, however many heads there are

}  // namespace

// All in float32, like the authors' framework: where the logarithm is near an integer, rounding decides the bucket.
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

std::vector<float> alibi_slopes(std::int64_t num_heads) {
  const auto heads = as_size(num_heads), n = std::bit_ceil(heads);
  std::vector<float> slopes;
  for (std::size_t i = 1; slopes.size() < heads; ++i) {
    const std::size_t h = n == heads ? i : 2 * i <= n ? 2 * i : 2 * i - n - 1;  // counted from 1
    slopes.push_back(static_cast<float>(std::exp2(-8 * static_cast<double>(h) / static_cast<double>(n))));
  }
  return slopes;
}

RelativeBias::RelativeBias(std::vector<float> slopes, std::int64_t kept) : slopes_(std::move(slopes)) {
  const auto heads = std::ssize(slopes_);
  check(heads > 0, "ALiBi", "there are no slopes");
  kept = std::clamp<std::int64_t>(kept, 1, std::max<std::int64_t>(most_kept_biases / (2 * heads), 1));
  const auto values = std::make_shared<std::vector<float>>(sloped(kept, kept));
  kept_ = {foreign_tensor(reinterpret_cast<std::byte*>(values->data()), {heads, 2 * kept - 1}, DType::f32, values),
           kept - 1};
}

std::vector<float> RelativeBias::sloped(std::int64_t queries, std::int64_t keys) const {
  std::vector<float> table;
  table.reserve(slopes_.size() * as_size(keys + queries - 1));
  for (const float slope : slopes_)
    for (std::int64_t r = 1 - keys; r < queries; ++r) table.push_back(slope * static_cast<float>(r));
  return table;
}

ops::RelativeBias RelativeBias::forward(Context& c, std::int64_t queries, std::int64_t keys) const {
  queries = std::max<std::int64_t>(queries, 1), keys = std::max<std::int64_t>(keys, 1);
  if (!slopes_.empty()) {
    if (std::max(queries, keys) <= kept_.zero + 1) return kept_;
    const auto heads = std::ssize(slopes_);
    return {c.upload<float>(sloped(queries, keys), {heads, keys + queries - 1}), keys - 1};
  }
  std::vector<std::int32_t> buckets;
  for (std::int64_t r = 1 - keys; r < queries; ++r)
    buckets.push_back(relative_bucket(r, options_.bidirectional, options_.num_buckets, options_.max_distance));
  const Tensor by_distance = ops::embedding(c, table_->value, c.upload(buckets), 1.0f, -1);
  return {ops::transpose(c, by_distance), keys - 1};
}

}  // namespace tril::nn
