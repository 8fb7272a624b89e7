#include "nn/rotary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "base/as_size.h"

namespace tril::nn {
namespace {

using Scaling = RotaryOptions::Scaling;

constexpr std::int64_t most_kept_angles = 1 << 22;  // 16 MiB, whatever sizes a file claims

// Models were trained with frequencies in this rounding: the power, then its inverse, in float32.
std::vector<float> plain(std::int64_t dim, double theta) {
  std::vector<float> f;
  for (std::int64_t i = 0; i < dim; i += 2)
    f.push_back(1.0f / static_cast<float>(std::pow(theta, static_cast<double>(i) / static_cast<double>(dim))));
  return f;
}

// Llama 3.1's apply_scaling, with the wavelength w = 2 pi / f and the blend s = (original / w - low) / (high - low):
// f if w < original / high, f / factor if w > original / low, else (1 - s) f / factor + s f.
void scale_llama3(std::vector<float>& f, const RotaryOptions& o) {
  const auto original = static_cast<double>(o.original);
  for (float& frequency : f) {
    const double value = frequency, wave = 2 * std::numbers::pi / value;
    if (wave < original / o.high_freq_factor) continue;
    const double s = (original / wave - o.low_freq_factor) / (o.high_freq_factor - o.low_freq_factor);
    frequency = static_cast<float>(wave > original / o.low_freq_factor ? value / o.factor
                                                                       : (1 - s) * value / o.factor + s * value);
  }
}

// [Peng et al. 2023, eq. 18-23]: pair i makes beta turns within `original` tokens at i = dim ln(original / (2 pi
// beta)) / (2 ln theta). Pairs with many turns keep their frequency; those with few are divided by the factor.
void scale_yarn(std::vector<float>& f, const RotaryOptions& o) {
  const auto dim = static_cast<double>(o.dim);
  const auto pair_of = [&](double turns) {
    return dim * std::log(static_cast<double>(o.original) / (turns * 2 * std::numbers::pi)) / (2 * std::log(o.theta));
  };
  double low = pair_of(o.beta_fast), high = pair_of(o.beta_slow);
  if (o.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    f[i] = static_cast<float>(static_cast<double>(f[i]) * (ramp / o.factor + 1 - ramp));
  }
}

}  // namespace

double RotaryOptions::score_factor() const {
  if (mscale_all_dim == 0 || factor <= 1) return 1;
  const double m = 0.1 * mscale_all_dim * std::log(factor) + 1;
  return m * m;
}

std::vector<float> rotary_frequencies(const RotaryOptions& o, std::int64_t length) {
  const bool beyond = length > o.original;
  double theta = o.theta;
  if (o.scaling == Scaling::dynamic && beyond) {
    const double stretched = o.factor * static_cast<double>(length) / static_cast<double>(o.original) - (o.factor - 1);
    theta *= std::pow(stretched, static_cast<double>(o.dim) / static_cast<double>(o.dim - 2));
  }
  if (o.scaling == Scaling::alpha)
    theta *= std::pow(o.factor, static_cast<double>(o.dim) / static_cast<double>(o.dim - 2));
  std::vector<float> f = plain(o.dim, theta);
  if (o.scaling == Scaling::linear || o.scaling == Scaling::proportional)
    for (float& frequency : f) frequency /= static_cast<float>(o.factor);
  if (o.scaling == Scaling::proportional) std::fill(f.begin() + o.turned / 2, f.end(), 0.0f);
  if (o.scaling == Scaling::llama3) scale_llama3(f, o);
  if (o.scaling == Scaling::yarn) scale_yarn(f, o);
  if (o.scaling == Scaling::longrope) {
    const std::vector<double>& factors = beyond ? o.long_factors : o.short_factors;
    for (std::size_t i = 0; i < f.size(); ++i)
      f[i] = static_cast<float>(static_cast<double>(f[i]) / static_cast<double>(static_cast<float>(factors[i])));
  }
  if (o.reversed)
    for (float& frequency : f) frequency = -frequency;
  return f;
}

RotaryPositions::RotaryPositions(RotaryOptions options, std::int64_t kept) : options_(std::move(options)) {
  check(options_.dim > 0 && options_.dim % 2 == 0, "rotary positions", "{} values cannot be divided into pairs",
        options_.dim);
  kept = std::min(kept, most_kept_angles / options_.dim);
  if (options_.depends_on_length()) kept = std::min(kept, options_.original);
  std::vector<std::int32_t> positions(as_size(kept));
  std::iota(positions.begin(), positions.end(), 0);
  const auto values = std::make_shared<std::vector<float>>();
  fill(*values, positions, rotary_frequencies(options_, 0));
  kept_ = foreign_tensor(reinterpret_cast<std::byte*>(values->data()), {kept, options_.dim}, DType::f32, values);
}

void RotaryPositions::fill(std::vector<float>& table, std::span<const std::int32_t> positions,
                           const std::vector<float>& frequencies) const {
  const std::size_t half = frequencies.size();
  const double scale = options_.attention_factor;
  std::size_t at = table.size();
  table.resize(at + positions.size() * 2 * half);
  for (const std::int32_t p : positions) {
    for (std::size_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(p) * frequencies[i];  // rounded as in training
      table[at + i] = static_cast<float>(scale * std::cos(static_cast<double>(angle)));
      table[at + half + i] = static_cast<float>(scale * std::sin(static_cast<double>(angle)));
    }
    at += 2 * half;
  }
}

// With read_anew, all angles of a row change when it exceeds the bound: no row may mix both kinds.
void RotaryPositions::check_grows(std::int64_t start, std::int64_t end, std::int64_t prompt_length) const {
  const std::int64_t bound = options_.original;
  check(!options_.read_anew || prompt_length > bound || start > bound || end <= bound || start == 0, "rotary positions",
        "a row grows from {} to {} tokens, but beyond {} all its angles change: it must be read again", start, end,
        bound);
}

ops::Rotation RotaryPositions::rotation(Context& c, const Rows& rows,
                                        std::span<const std::int32_t> prompt_lengths) const {
  std::vector<std::int32_t> positions = rows.positions();
  const auto N = std::ssize(positions);
  const auto prompt_length = [&](std::int64_t r) {
    const std::int32_t all = rows.start(r) + rows.length(r);
    return prompt_lengths.empty() ? all : prompt_lengths[as_size(r)];
  };
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    if (rows.length(r) == 0) continue;
    longest = std::max<std::int64_t>(longest, rows.start(r) + rows.length(r));
    if (options_.depends_on_length()) longest = std::max<std::int64_t>(longest, prompt_length(r));
  }
  if (longest <= kept_.size(0)) return {kept_, c.upload<std::int32_t>(positions, {N}), options_.interleaved};

  // Every token has its own row of angles.
  std::vector<float> table;
  const std::vector<float> common = rotary_frequencies(options_, 0);
  for (std::int64_t r = 0; r < rows.count(); ++r) {
    const auto own = std::span(positions).subspan(as_size(rows.begin(r)), as_size(rows.length(r)));
    if (!options_.depends_on_length()) {
      fill(table, own, common);
      continue;
    }
    check_grows(rows.start(r), rows.start(r) + rows.length(r), prompt_length(r));
    const auto length_of = [&](std::int32_t position) { return std::max(prompt_length(r), position + 1); };
    for (std::size_t begin = 0, end = 0; begin < own.size(); begin = end) {  // runs of equal length
      const std::int32_t length = length_of(own[begin]);
      while (end < own.size() && length_of(own[end]) == length) ++end;
      fill(table, own.subspan(begin, end - begin),
           length > options_.original ? rotary_frequencies(options_, length) : common);
    }
  }
  std::iota(positions.begin(), positions.end(), 0);
  return {c.upload<float>(table, {N, options_.dim}), c.upload<std::int32_t>(positions, {N}), options_.interleaved};
}

ops::Rotation RotaryPositions::query_rotation(Context& c, const Rows& rows) const {
  if (options_.query_beta == 0) return {};
  check(!options_.depends_on_length(), "rotary positions", "queries cannot be scaled where angles depend on lengths");
  std::vector<std::int32_t> positions = rows.positions();
  const auto N = std::ssize(positions);
  std::vector<float> table;
  fill(table, positions, rotary_frequencies(options_, 0));
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double passed = std::floor(static_cast<double>(positions[i]) / static_cast<double>(options_.original));
    const float factor = static_cast<float>(1 + options_.query_beta * std::log(1 + passed));
    const auto dim = as_size(options_.dim);
    for (std::size_t j = i * dim; j < (i + 1) * dim; ++j) table[j] *= factor;
  }
  std::iota(positions.begin(), positions.end(), 0);
  return {c.upload<float>(table, {N, options_.dim}), c.upload<std::int32_t>(positions, {N}), options_.interleaved};
}

}  // namespace tril::nn
