// How the trained weights are divided: into pieces, whose norms are summed in order; into stretches, each of one weight and
// one piece; into buckets, which are what travels between processes at a time; and among the ranks, each of which steps its
// own stretches and keeps the optimiser's state of those alone [ZeRO, Rajbhandari et al. 2020, section 5.1: P_os].
#pragma once

#include <cstddef>
#include <vector>

#include "train/optim/update_rule.h"

namespace tril::train {

/// Values [begin, begin + count) of the trained window.
struct Interval {
  std::size_t begin = 0, count = 0;
};

class Division {
 public:
  /// @param takes_whole  the weights that are stepped by one rank each
  Division(const nn::Parameters& parameters, const std::vector<TrainedWeight>& weights, const UpdateRule& rule,
           int rank, int ranks);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Where the window begins in the flat block, and its values.
  std::size_t window_begin() const { return window_begin_; }
  std::size_t window_count() const { return window_count_; }

  /// What is trained, ascending, cut where a piece ends. The rows of padding ids are no part of it.
  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::size_t pieces() const { return first_of_piece_.size() - 1; }
  /// The first stretch of a piece; of the number behind the last one, how many there are.
  std::size_t first_of_piece(std::size_t piece) const { return first_of_piece_[piece]; }
  /// Rows of padding ids: their gradient is made zero.
  const std::vector<Stretch>& untrained_rows() const { return untrained_rows_; }

  int owner_of(std::size_t stretch) const { return owner_[stretch]; }
  /// This rank's stretches, ascending.
  const std::vector<std::size_t>& own() const { return own_; }
  /// This rank's weights that are stepped whole.
  const std::vector<std::size_t>& own_whole() const { return own_whole_; }

  /// The window in parts that follow one another.
  const std::vector<Interval>& buckets() const { return buckets_; }
  /// What of a bucket a rank steps.
  const std::vector<Interval>& owned(std::size_t bucket, int rank) const {
    return owned_[bucket * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(rank)];
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

/// Which of `loads` goes to which of `takers`: the largest first, each to the one that has least so far.
std::vector<std::size_t> dealt_out(const std::vector<std::size_t>& loads, std::size_t takers);

}  // namespace tril::train
