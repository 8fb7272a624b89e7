// How often the pairs of several corpora occur in an epoch.
//
// Corpus i with n_i pairs has the share p_i of an epoch of N = sum n_i pairs:
//   p_i = n_i^(1/T) / sum_j n_j^(1/T)    temperature sampling [Arivazhagan et al. 2019]; T = 1: proportional
//   p_i = w_i / sum_j w_j                explicit shares
// so each of its pairs occurs r_i = N p_i / n_i times an epoch. If that is no integer, a pair occurs floor(r_i) or
// ceil(r_i) times: until the end of epoch e it has occurred
//   floor((e + 1) r_i + u),  u in [0, 1) a function of seed and pair
// times, so that the counts of a corpus's pairs differ by at most one and none is forgotten [systematic sampling]. The
// count is a function of seed, epoch and pair: nothing is stored, and training can resume in any epoch.
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

/// How often a pair occurs in one epoch. @param pair  its number over all corpora
std::int64_t times_in_epoch(double rate, std::uint64_t seed, std::int64_t pair, std::int64_t epoch);

/// The order in which corpora are interleaved: in rounds of some 1,000 pairs, of which each corpus has its share, so
/// that all end together and any stretch contains some of each.
class Interleaving {
 public:
  explicit Interleaving(std::vector<std::int64_t> sizes);

  std::int64_t rounds() const { return rounds_; }
  /// Pairs of corpus i before this round.
  std::int64_t before(std::size_t corpus, std::int64_t round) const;
  /// Pairs of all corpora before this round.
  std::int64_t before(std::int64_t round) const;
  /// The round of pair `position`; rounds() after the last pair.
  std::int64_t round_of(std::int64_t position) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::int64_t rounds_ = 1;
};

}  // namespace tril
