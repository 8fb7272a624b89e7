// Data-parallel training. Each batch is cut into parts of nearly equal tokens; each of a rank's workers computes the loss and
// the gradient of its parts with one thread (passes.h); the gradients of parts, batches and ranks meet (gradient_reducer.h);
// then all workers together clip, step the optimiser and refresh the copies of the weights, each over its own slice. All sums
// run in a fixed order: the result depends on the number of parts, never on timing nor on the number of workers that share
// the parts.
//
// Where several processes train (dist::Ranks), each takes neighbouring batches of an update, steps its own stretches and
// gives the weights to all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "corpus/batch.h"
#include "model/spec/model.h"
#include "train/distributed/gradient_reducer.h"
#include "train/distributed/passes.h"
#include "train/distributed/rank_reports.h"
#include "train/distributed/workers_options.h"
#include "train/optim/gradient_noise.h"
#include "train/optim/guard.h"
#include "train/optim/optimizer.h"

namespace tril::train {

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
  void share(const Tensor& values) { reducer_->share(values); }
  /// Runs `work` while the first rank has all weights.
  void with_whole_weights(const std::function<void()>& work) { reducer_->with_whole_weights(work); }

  /// Brings the transposed weights up to date, after somebody else has written the weights.
  void refresh() { reducer_->refresh_all(); }

  int threads() const { return passes_.threads(); }
  /// Bytes that all arenas have taken from the system at most, and how often one of them had to grow.
  std::size_t arena_bytes() const { return passes_.arena_bytes(); }
  std::uint64_t arena_growths() const { return passes_.arena_growths(); }

  /// Where the time of all updates since restart_profile() went, of all threads together; empty without options.profile.
  /// What belongs to no op is the row "update".
  Profile profile() const { return passes_.profile(); }
  void restart_profile() { passes_.restart_profile(); }

 private:
  Update update_of(std::span<const Batch> batches, std::int64_t number) const;
  RankReport report_of(const GradientReducer& reducer, const Update& update) const;
  void step(GradientReducer& reducer, UpdateResult& result, double rate, const std::function<void()>& agree);

  Work gathering_work() const;
  Work stepping_work() const;

  model::Model& model_;
  Optimizer& optimizer_;
  WorkersOptions options_;
  Passes passes_;
  std::unique_ptr<GradientReducer> reducer_;
};

}  // namespace tril::train
