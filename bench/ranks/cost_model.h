// The cost of an update of N ranks: the time of messages by LogGP [Alexandrov et al. 1995], published costs of
// all-reduce algorithms, and tril's own exchange (src/train/distributed/exchange.h), which overlaps with the
// backward pass. Seconds and bytes throughout.
//
//   T(N) = data + C (1 + sigma m(N)) + exposed gradients + sums + two agreements + step / N + weights + packing
//
// m(N), the expected largest of N normal draws, gives the time of waiting for the slowest rank; the other terms are
// below.
#pragma once

#include <cstddef>

namespace tril::bench {

/// A link of a machine, equal for all its ranks: L, o and 1/G of LogGP, and the core time per byte (copying, TCP; 0
/// if the network card does it).
struct Link {
  double latency = 0, overhead = 0, bytes_per_second = 0;
  double core_seconds_per_byte = 0;
};

// All-reduce and all-gather of one vector of `bytes` over N ranks:

/// 2 (N - 1) steps of bytes / N [Patarasu & Yuan 2009; Thakur et al. 2005].
double ring_all_reduce(double bytes, double ranks, const Link& link);
/// Each step sends half of the rest to a partner, and the same back: 2 log2 N steps, with the bytes of a ring
/// [Rabenseifner 2004; Thakur et al. 2005].
double halving_all_reduce(double bytes, double ranks, const Link& link);
/// Sends everything to a partner, log2 N times [Thakur et al. 2005].
double doubling_all_reduce(double bytes, double ranks, const Link& link);
/// Up a binomial tree and down again: 2 log2 N times everything [Thakur et al. 2005].
double tree_all_reduce(double bytes, double ranks, const Link& link);
/// Within each machine of k ranks by a ring on its internal link; between the machines by k rings of a k-th each,
/// which share the machine's link; then within each machine again [Jia et al. 2018].
double two_level_all_reduce(double bytes, double ranks, double per_machine, const Link& inside, const Link& outside);
/// Each rank's n-th part to all, N - 1 steps: half of a ring all-reduce [Thakur et al. 2005].
double ring_all_gather(double bytes, double ranks, const Link& link);

/// E[max of N standard normal draws] = integral of x d(Phi(x)^N).
double expected_largest(double draws);

/// The division of `weights` values by src/train/optim/division.cpp: pieces of 16,384, in buckets of up to 64, at
/// least 8 buckets.
struct Dealt {
  double most_values = 0;   ///< the largest owner's values
  double messages_out = 0;  ///< messages of a rank's gradient: one to each other owner of each bucket
  double most_buckets = 0;  ///< the most buckets in which one rank owns something
  double most_pieces = 0;   ///< the largest owner's pieces
};
Dealt deal(double weights, std::size_t ranks);

struct Step {
  // The model:
  double weights = 0;         ///< trained values
  double compute = 0;         ///< forward and backward of one rank's batch
  double summing = 0;         ///< gradient norm and optimizer step for all weights on one rank
  double packing = 0;         ///< packing all weights for the next products, in every rank
  double passes = 1;          ///< passes per batch; gradients travel only during the backward pass of the last one
  double backward = 2.0 / 3;  ///< the backward pass's share of a pass
  double before_first = 0;    ///< its share until the first gradients (the output layer's) are complete
  double at_its_end = 0;      ///< share of the gradients that are complete only at its end: the embedding's
  double batch_reading = 0;   ///< reading any rank's batch: each rank reads all of them
  double spread = 0;          ///< relative standard deviation of `compute`

  // The job:
  std::size_t ranks = 1, per_machine = 1;
  double cores = 2;    ///< per machine, shared by its ranks
  double threads = 1;  ///< per rank
  double bytes_per_gradient = 4;
  bool overlap = true;
  bool trains = true;  ///< tril train has one more all-gather per update than tril bench train
  double memory_bytes_per_second = 20e9;
  double seconds_per_search = 0;  ///< to find one of N sums in a list of N (Exchange::find), per stretch, over N^2
  Link inside, outside;
};

struct StepCost {
  double data = 0, compute = 0, waiting_for_slowest = 0;
  double gradients = 0, exposed = 0;  ///< travel time of the gradients, and the part that computation does not hide
  double messages = 0;                ///< processor time of all messages of an update
  double adding_up = 0, agreeing = 0, stepping = 0, sharing = 0, packing = 0;
  double total() const {
    return data + compute + waiting_for_slowest + exposed + adding_up + agreeing + stepping + sharing + packing;
  }
};

/// The cost of tril's step.
StepCost step_cost(const Step& step);
/// The same step with ring all-reduces of the gradients, bucket by bucket, and a ring all-gather of the weights.
StepCost step_cost_of_ring(const Step& step);

/// The number of updates to reach a loss, relative to that with infinitely large batches: 1 + B_crit / B
/// [McCandlish et al. 2018, section 2].
inline double updates_needed(double batch_tokens, double critical_tokens) {
  return 1 + critical_tokens / batch_tokens;
}

}  // namespace tril::bench
