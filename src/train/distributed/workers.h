// Data-parallel training inside one process. Each batch is cut into parts of nearly equal tokens; a worker computes the
// loss and the gradient of its parts with one thread, an arena and a tape of its own, a large part in several passes; then
// all workers together sum the gradients, clip, step the optimiser and refresh the transposed weights, each over its own
// slice. All sums run in a fixed order: the result depends on the number of parts, never on timing nor on the number of
// workers that share the parts.
//
// Where several processes train (dist::Ranks), each takes neighbouring batches of an update. Every bucket of its gradient
// travels as soon as the backward walk has passed it (exchange.h); each rank steps its own stretches and gives the weights to
// all. With `fixed_order` the sums are made in an order that does not depend on how many ranks there are (sum_order.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/team.h"
#include "corpus/batch.h"
#include "dist/ranks.h"
#include "model/spec/model.h"
#include "train/distributed/exchange.h"
#include "train/distributed/sharding.h"
#include "train/loss/batch_loss.h"
#include "train/optim/gradient_noise.h"
#include "train/optim/guard.h"
#include "train/optim/optimizer.h"

namespace tril::train {

struct WorkersOptions {
  int threads = 1;
  int parts = 1;  ///< of each batch; at least `threads`
  /// Values of one activation [tokens, d_model] that a pass may have: a step keeps some twenty of them a layer for its
  /// backward walk, and more tokens than these make no product faster.
  std::int64_t pass_values = 393'216;
  LossSettings loss;
  double clip_norm = 0;             ///< 0: none
  std::int64_t dropout_warmup = 0;  ///< updates over which dropout sets in; 0: from the first
  std::uint64_t seed = 1;           ///< of dropout
  nn::Precision precision = nn::Precision::fp32;
  const kern::Kernels* kernels = &kern::best();
  bool profile = false;  ///< note where the time goes
  std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone();
  bool fixed_order = false;  ///< the same bits for any number of ranks
  WirePrecision wire = WirePrecision::fp32;
  std::function<void()> before_step;  ///< called once in every update before weights change; may be empty
  bool shard_weights = false;  ///< no rank has all weights and gradients (sharding.h); nothing to do for one rank
  /// Asked before each pass of an update of several batches, by many threads at once, where there is one rank: true
  /// breaks the update off. May be empty
  std::function<bool()> stop;
  bool overlap = true;  ///< gradients travel while others are computed; false, for comparison: once all are there
};

/// What one update came to.
struct UpdateResult {
  double loss = 0;                     ///< mean for each target token, of what is minimised
  std::int64_t tokens = 0;             ///< target tokens
  double gradient_norm = 0;            ///< before clipping
  std::vector<GroupNorm> group_norms;  ///< the same by part of the model
  GradientNoise noise;                 ///< nothing where a batch has one part
  double waited = 0;                   ///< seconds for the other ranks: their gradients, norms and weights
  std::vector<double> rank_seconds;    ///< that each rank took for its gradient; one rank: none
  bool broken_off = false;  ///< by WorkersOptions::stop: nothing was stepped, and nothing else here is of use
  bool finite = true;       ///< false: loss or gradient was NaN, infinite or beyond the limits, and nothing was stepped
};

/// What a pass over a validation set came to.
struct Evaluation {
  double cross_entropy = 0;  ///< mean for each target token, without label smoothing, in nats
  std::int64_t tokens = 0;
  double perplexity() const;  ///< e^cross_entropy
};

class Workers {
 public:
  /// All references outlive this.
  Workers(model::Model& model, Optimizer& optimizer, WorkersOptions options);
  ~Workers();

  /// One update from the batches (more than one: their gradients are accumulated). Dropout is a function of the seed,
  /// `number`, the batch and the part. An exception of a worker before the step leaves the weights as they were. Every rank is given all of
  /// the update's batches, and computes its share. @throws Error also where a rank has other batches
  UpdateResult update(std::span<const Batch> batches, std::int64_t number, double rate,
                      const UpdateLimits& limits = {});

  /// The loss over the batches; no weight changes.
  /// @param stop  asked before each batch, by many threads at once: true ends it, and what is returned is of no use. Not asked
  /// where weights are sharded
  Evaluation evaluate(std::span<const Batch> batches, const std::function<bool()>& stop = {});

  /// Gives all ranks the values [trained window] that each of them steps; nothing to do for one.
  void share(const Tensor& values) {
    if (exchange_) exchange_->share(values);
  }
  /// Runs `work` while the first rank has all weights.
  void with_whole_weights(const std::function<void()>& work) {
    sharding_ ? sharding_->with_whole_weights(work) : work();
  }

  /// Brings the transposed weights up to date, after somebody else has written the weights.
  void refresh();

  int threads() const { return team_.size(); }
  /// Bytes that all arenas have taken from the system at most, and how often one of them had to grow.
  std::size_t arena_bytes() const;
  std::uint64_t arena_growths() const;

  /// Where the time of all updates since restart_profile() went, of all threads together; empty without options.profile.
  /// What belongs to no op is the row "update".
  Profile profile() const;
  void restart_profile();

 private:
  struct Worker;
  /// An update's batches, cut into parts, from number `first` on.
  struct Share {
    std::size_t first = 0;
    std::vector<std::vector<Batch>> parts;
    std::int64_t number = 0;  ///< of the update
    double normalizer = 1;    ///< its target tokens
  };
  // What goes through the model at a time: a part of a batch, or of that.
  struct Pass {
    Batch batch;
    RandomKey key, shared_key;  // of dropout; of what all parts decide alike
    std::size_t loss = 0;       // where in losses_ it is added
  };
  std::vector<Pass> passes_of(const Share& share, std::size_t part, const LossSettings& loss) const;
  void prepare_exchange();
  bool breaks_off();
  void compute(const Share& share, bool announces);
  void compute_and_send(const Share& share);
  void compute_in_order(const Share& share, std::span<const Branch> branches);
  std::vector<std::size_t> everybodys(std::size_t passes) const;
  void compute_in_shards(const Share& share);
  void add_gradients(Worker& w, int member, const Share& share, bool announces);
  void add_gradient(Worker& w, const Pass& pass, const LossSettings& loss, double normalizer, Grads& grads);
  void run_members(std::int64_t number, const std::function<void(Worker& w, int member)>& work);
  Tensor sum_of(Branch branch, const Share& share);
  void complete(std::uint64_t parameter);
  void send(std::size_t bucket);
  void finish(std::span<const Batch> batches, UpdateResult& result, double rate, const UpdateLimits& limits,
              double seconds);
  void agree(std::span<const Batch> batches, UpdateResult& result, double seconds);
  Tensor trained_values() const;

  Work packing_work() const;
  Work gathering_work() const;
  Work stepping_work() const;

  GradientNoise noise_of(const UpdateResult& result) const;

  model::Model& model_;
  Optimizer& optimizer_;
  WorkersOptions options_;
  Team team_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Tensor> gradients_;              // by part, each laid out as the weights that train
  std::vector<std::unique_ptr<Grads>> grads_;  // by part, bound to these
  std::vector<double> losses_;                 // by batch of this rank and part
  std::vector<PartGradient> noisy_;            // of parts, batches or ranks

  bool may_break_off_ = false;  // the update has several batches, and nobody else takes part
  std::atomic<bool> broken_off_ = false;
  std::size_t first_batch_ = 0;  // this rank's first of the update
  bool exchanges_ = false;       // the update has several ranks, or several batches in fixed order

  // With several ranks, or in fixed order.
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Sharding> sharding_;                    // in its place where weights are sharded
  std::vector<Tensor> spare_;                             // gradients that wait to be used again
  std::vector<Tensor> sums_;                              // those that this rank gives
  std::unordered_map<std::uint64_t, Branch> buckets_of_;  // by parameter
  std::vector<std::atomic<int>> outstanding_;             // by bucket: parameters times parts
};

}  // namespace tril::train
