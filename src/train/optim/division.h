// The division of the trained weights: into pieces, whose norms are summed in order; into stretches, each within one
// weight and one piece; into buckets, the units of communication between processes; and among the ranks, each of which
// steps only its own stretches and keeps their optimizer state [ZeRO, Rajbhandari et al. 2020, section 5.1: P_os].
#pragma once

#include <cstddef>
#include <vector>

#include "base/as_size.h"
#include "train/optim/update_rule.h"

namespace tril::train {

/// Values [begin, begin + count) of the trained window.
struct Interval {
  std::size_t begin = 0, count = 0;
};

class Division {
 public:
  /// @param takes_whole  the weights that one rank steps as a whole
  Division(const nn::Parameters& parameters, const std::vector<TrainedWeight>& weights, const UpdateRule& rule,
           int rank, int ranks);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// The window's offset in the flat block, and its number of values.
  std::size_t window_begin() const { return window_begin_; }
  std::size_t window_count() const { return window_count_; }

  /// The trained values, ascending, split at piece boundaries, without the rows of padding ids.
  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::size_t pieces() const { return first_of_piece_.size() - 1; }
  /// The index of a piece's first stretch; for piece = the number of pieces, the number of stretches.
  std::size_t first_of_piece(std::size_t piece) const { return first_of_piece_[piece]; }
  /// Rows of padding ids, whose gradient is set to zero.
  const std::vector<Stretch>& untrained_rows() const { return untrained_rows_; }

  int owner_of(std::size_t stretch) const { return owner_[stretch]; }
  /// This rank's stretches, ascending.
  const std::vector<std::size_t>& own() const { return own_; }
  /// The weights that this rank steps as a whole.
  const std::vector<std::size_t>& own_whole() const { return own_whole_; }

  /// Consecutive parts that cover the window.
  const std::vector<Interval>& buckets() const { return buckets_; }
  /// The part of a bucket that a rank steps.
  const std::vector<Interval>& owned(std::size_t bucket, int rank) const {
    return owned_[bucket * as_size(ranks_) + as_size(rank)];
  }

 private:
  void cut(const std::vector<Stretch>& whole);
  void deal_out(const std::vector<TrainedWeight>& weights, const UpdateRule& rule);

  int rank_, ranks_;
  std::size_t window_begin_, window_count_;
  std::vector<Stretch> stretches_, untrained_rows_;
  std::vector<std::size_t> first_of_piece_;
  std::vector<int> owner_;  // by stretch
  std::vector<std::size_t> own_, own_whole_;
  std::vector<Interval> buckets_;
  std::vector<std::vector<Interval>> owned_;  // by bucket and rank
};

/// Assigns each of `loads` to one of `takers`: the largest first, each to the taker with the least load.
std::vector<std::size_t> dealt_out(const std::vector<std::size_t>& loads, std::size_t takers);

}  // namespace tril::train
