#include "corpus/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace tril {

namespace {

constexpr std::int64_t pairs_in_round = 1000;
constexpr std::uint64_t mixture_stream = 0x6d6978;  // distinct from every other use of the seed

}  // namespace

std::vector<double> pair_rates(const std::vector<std::int64_t>& sizes, double temperature,
                               const std::vector<double>& weights) {
  check(weights.empty() || weights.size() == sizes.size(), "corpus weights", "{} for {} corpora", weights.size(),
        sizes.size());
  if (weights.empty() && temperature == 1) return std::vector<double>(sizes.size(), 1.0);
  std::vector<double> shares;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    shares.push_back(weights.empty() ? std::pow(static_cast<double>(sizes[i]), 1 / temperature) : weights[i]);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const auto pairs = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  std::vector<double> rates;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    rates.push_back(pairs * shares[i] / sum / static_cast<double>(sizes[i]));
  return rates;
}

std::int64_t times_in_epoch(double rate, std::uint64_t seed, std::int64_t pair, std::int64_t epoch) {
  if (rate == 1) return 1;
  const double u =
      RandomSequence(sub_key(random_key(seed, mixture_stream), static_cast<std::uint64_t>(pair))).uniform();
  const auto through = [&](std::int64_t epochs) { return std::floor(static_cast<double>(epochs) * rate + u); };
  return static_cast<std::int64_t>(through(epoch + 1) - through(epoch));
}

Interleaving::Interleaving(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {
  const std::int64_t pairs = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  rounds_ = std::max<std::int64_t>(1, (pairs + pairs_in_round - 1) / pairs_in_round);
}

std::int64_t Interleaving::before(std::size_t corpus, std::int64_t round) const {
  // size * round / rounds without overflow of 64 bits
  const std::int64_t size = sizes_[corpus];
  return size / rounds_ * round + size % rounds_ * round / rounds_;
}

std::int64_t Interleaving::before(std::int64_t round) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) sum += before(i, round);
  return sum;
}

std::int64_t Interleaving::round_of(std::int64_t position) const {
  std::int64_t low = 0, high = rounds_;  // before(low) <= position, before(high + 1) > position
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (before(middle) <= position)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace tril
