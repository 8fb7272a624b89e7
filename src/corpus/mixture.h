// How often the pairs of several corpora come in an epoch.
//
// Corpus i of n_i pairs gets the share p_i of an epoch of N = sum n_i pairs:
//   p_i = n_i^(1/T) / sum_j n_j^(1/T)    temperature sampling [Arivazhagan et al. 2019]; T = 1: as they are
//   p_i = w_i / sum_j w_j                shares that are given
// so each of its pairs comes r_i = N p_i / n_i times an epoch. Where that is no whole number, a pair comes floor(r_i) or
// ceil(r_i) times: through epoch e it has come
//   floor((e + 1) r_i + u),  u in [0, 1) a function of seed and pair
// times, so that no pair comes twice more often than another of its corpus and none is forgotten [systematic sampling].
// That is a function of seed, epoch and pair: nothing is stored, and any epoch can be gone on with.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace tril {

/// r_i of each corpus.
/// @param weights  w_i, above 0; empty: shares follow from the sizes and `temperature`
/// @param temperature  T, at least 1
std::vector<double> pair_rates(const std::vector<std::int64_t>& sizes, double temperature,
                               const std::vector<double>& weights);

/// How often a pair comes in one epoch. @param pair  its number in all corpora
std::int64_t times_in_epoch(double rate, std::uint64_t seed, std::int64_t pair, std::int64_t epoch);

/// The order in which corpora are read together, in rounds of some 1,000 pairs of which each corpus has its part, so
/// that all end together and any stretch has some of each.
class Interleaving {
 public:
  explicit Interleaving(std::vector<std::int64_t> sizes);

  std::int64_t rounds() const { return rounds_; }
  /// Pairs of corpus i that come before this round.
  std::int64_t before(std::size_t corpus, std::int64_t round) const;
  /// Pairs of all corpora that come before this round.
  std::int64_t before(std::int64_t round) const;
  /// The round that pair `position` falls in; rounds() behind the last pair.
  std::int64_t round_of(std::int64_t position) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::int64_t rounds_ = 1;
};

}  // namespace tril
