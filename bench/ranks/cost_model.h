// What an update of N ranks costs: the time of messages by LogGP [Alexandrov et al. 1995], published costs of the ways
// to add up one vector of all ranks, and tril's own exchange (src/train/distributed/exchange.h) with the walk that it travels
// beside. Seconds and bytes throughout.
//
//   T(N) = data + C (1 + sigma m(N)) + exposed gradients + sums + two agreements + step / N + weights + packing
//
// m(N), the expected largest of N normal draws, is what waiting for the slowest costs; everything else is below.
#pragma once

#include <cstddef>

namespace tril::bench {

/// A link of a machine, the same for each of its ranks: L, o and 1/G of LogGP, and what a byte takes of the cores
/// (copying, TCP; 0 where the card does it).
struct Link {
  double latency = 0, overhead = 0, bytes_per_second = 0;
  double core_seconds_per_byte = 0;
};

// Of one vector of `bytes`, to be summed and given to all of N ranks.

/// 2 (N - 1) steps of bytes / N [Patarasu & Yuan 2009; Thakur et al. 2005].
double ring_all_reduce(double bytes, double ranks, const Link& link);
/// A half of what is left goes to a partner in each step, and the same back: 2 log2 N steps, the bytes of a ring
/// [Rabenseifner 2004; Thakur et al. 2005].
double halving_all_reduce(double bytes, double ranks, const Link& link);
/// Everything to a partner, log2 N times [Thakur et al. 2005].
double doubling_all_reduce(double bytes, double ranks, const Link& link);
/// Up a binomial tree and down again, 2 log2 N times everything [Thakur et al. 2005].
double tree_all_reduce(double bytes, double ranks, const Link& link);
/// Within each machine, of k ranks, by a ring of its own link; between the machines by k rings of a k-th each, which
/// share the machine's link; and within again [Jia et al. 2018].
double two_level_all_reduce(double bytes, double ranks, double per_machine, const Link& inside, const Link& outside);
/// Each rank's n-th to all, N - 1 steps: half of a ring all-reduce [Thakur et al. 2005].
double ring_all_gather(double bytes, double ranks, const Link& link);

/// E[max of N standard normal draws] = integral of x d(Phi(x)^N).
double expected_largest(double draws);

/// How src/train/optim/division.cpp deals `weights` values out: pieces of 16,384, in buckets of up to 64, at least 8 buckets.
struct Dealt {
  double most_values = 0;   ///< of one rank
  double messages_out = 0;  ///< that a rank sends with its gradient: one to each other owner of each bucket
  double most_buckets = 0;  ///< in which one rank owns something
  double most_pieces = 0;   ///< of one rank
};
Dealt deal(double weights, std::size_t ranks);

struct Step {
  // Of the model.
  double weights = 0;         ///< trained values
  double compute = 0;         ///< forward and backward of one rank's batch
  double summing = 0;         ///< gradient's norm and the optimiser's step of all weights by one rank
  double packing = 0;         ///< of all weights for the products to come, in every rank
  double passes = 1;          ///< that a batch takes; gradients travel during the last one's backward walk alone
  double backward = 2.0 / 3;  ///< its share of a pass
  double before_first = 0;    ///< its share until the first gradients are complete: the output's
  double at_its_end = 0;      ///< share of the gradients that are complete when it ends: the embedding's
  double batch_reading = 0;   ///< of any rank's batch: each rank reads all of them
  double spread = 0;          ///< standard deviation of compute, as a share of it

  // Of the job.
  std::size_t ranks = 1, per_machine = 1;
  double cores = 2;    ///< of a machine, which its ranks share
  double threads = 1;  ///< of a rank
  double bytes_per_gradient = 4;
  bool overlap = true;
  bool trains = true;  ///< tril train agrees once more in each update than tril bench train
  double memory_bytes_per_second = 20e9;
  double seconds_per_search = 0;  ///< of one of N sums in a list of N (Exchange::find), for each stretch, over N^2
  Link inside, outside;
};

struct StepCost {
  double data = 0, compute = 0, waiting_for_slowest = 0;
  double gradients = 0, exposed = 0;  ///< how long they travel, and what of that nothing hides
  double messages = 0;                ///< processor time of all messages of an update
  double adding_up = 0, agreeing = 0, stepping = 0, sharing = 0, packing = 0;
  double total() const {
    return data + compute + waiting_for_slowest + exposed + adding_up + agreeing + stepping + sharing + packing;
  }
};

/// As tril does it.
StepCost step_cost(const Step& step);
/// The same step, its gradients reduced by one ring after the other, bucket by bucket, and its weights gathered by a
/// ring.
StepCost step_cost_of_ring(const Step& step);

/// Updates to a loss, relative to what endless batches need: 1 + B_crit / B [McCandlish et al. 2018, section 2].
inline double updates_needed(double batch_tokens, double critical_tokens) {
  return 1 + critical_tokens / batch_tokens;
}

}  // namespace tril::bench
