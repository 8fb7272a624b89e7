#include "nn/positions.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/as_size.h"
#include "tensor/observer.h"

namespace tril::nn {
namespace {

constexpr std::int64_t most_kept_values = 1 << 22;  // 16 MiB, whatever sizes a file claims

// Shows the rows that are added to x. True if the observer leaves them out or replaced them: then y is x with its rows.
bool positions_observed(Context& c, const Tensor& x, Tensor rows, Tensor& y) {
  if (skipped(c, "positions")) return y = x, true;
  if (!observe(c, "positions", rows)) return false;
  return y = ops::add(c, x, rows), true;
}

}  // namespace

SinusoidalPositions::SinusoidalPositions(std::int64_t d_model, Layout layout, std::int64_t kept, std::int32_t first)
    : d_model_(d_model), layout_(layout), first_(first) {
  check(d_model % 2 == 0, "sinusoidal positions", "d_model {} is odd: a sine needs its cosine", d_model);
  kept = std::min(kept, most_kept_values / std::max<std::int64_t>(d_model, 1));
  const auto values = std::make_shared<std::vector<float>>(table(kept));
  kept_ = foreign_tensor(reinterpret_cast<std::byte*>(values->data()), {kept, d_model}, DType::f32, values);
}

std::vector<float> SinusoidalPositions::at(std::span<const std::int32_t> positions) const {
  std::vector<float> t(positions.size() * as_size(d_model_));
  const std::int64_t half = d_model_ / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const auto of_all =
        static_cast<double>(layout_ == Layout::tensor2tensor ? std::max<std::int64_t>(half - 1, 1) : half);
    const double frequency = std::pow(10000.0, -static_cast<double>(i) / of_all);
    const std::int64_t sine = layout_ == Layout::interleaved ? 2 * i : i,
                       cosine = layout_ == Layout::interleaved ? 2 * i + 1 : half + i;
    for (std::size_t n = 0; n < positions.size(); ++n) {
      const double angle = (static_cast<double>(positions[n]) + first_) * frequency;
      float* const row = t.data() + n * as_size(d_model_);
      row[sine] = static_cast<float>(std::sin(angle));
      row[cosine] = static_cast<float>(std::cos(angle));
    }
  }
  return t;
}

std::vector<float> SinusoidalPositions::table(std::int64_t count) const {
  std::vector<std::int32_t> positions(as_size(count));
  std::iota(positions.begin(), positions.end(), 0);
  return at(positions);
}

Tensor SinusoidalPositions::forward(Context& c, const Tensor& x, std::span<const std::int32_t> positions) const {
  std::int64_t needed = 0;
  for (std::int32_t p : positions) needed = std::max<std::int64_t>(needed, p + 1);
  const auto N = std::ssize(positions);
  if (Tensor y; c.observer() && positions_observed(c, x, c.upload<float>(at(positions), {N, d_model_}), y)) return y;
  if (needed <= kept_.size(0)) return ops::add_positions(c, x, kept_, c.upload<std::int32_t>(positions, {N}));
  for (std::int32_t p : positions) check(p >= 0, "sinusoidal positions", "position {} is negative", p);
  return ops::add(c, x, c.upload<float>(at(positions), {N, d_model_}));
}

LearnedPositions::LearnedPositions(Parameters& p, const std::string& name, const Options& o)
    : table_(&p.add(name, {o.offset + o.length, o.d_model}, Init::normal(o.deviation))),
      offset_(static_cast<std::int32_t>(o.offset)) {}

Tensor LearnedPositions::forward(Context& c, const Tensor& x, std::span<const std::int32_t> positions) const {
  std::vector<std::int32_t> rows(positions.begin(), positions.end());
  for (std::int32_t& row : rows) row += offset_;
  if (Tensor y; c.observer() && positions_observed(c, x, ops::embedding(c, table_->value, c.upload(rows), 1.0f, -1), y))
    return y;
  return ops::add_positions(c, x, table_->value, c.upload(rows));
}

}  // namespace tril::nn
