// Data-parallel training. Each batch is split into parts of nearly equal tokens; each of a rank's workers computes the
// loss and the gradient of its parts with one thread (passes.h); the gradients of parts, batches and ranks are reduced
// (gradient_reducer.h); then all workers together clip, step the optimizer and refresh the copies of the weights, each
// over its own slice. All sums have a fixed order: the result depends on the number of parts, but not on timing or the
// number of workers.
//
// With several processes (dist::Ranks), each takes consecutive batches of an update, steps its own stretches and sends
// these weights to all.
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

/// The result of one update.
struct UpdateResult {
  double loss = 0;                     ///< of the training objective, mean per target token
  std::int64_t tokens = 0;             ///< target tokens
  double gradient_norm = 0;            ///< before clipping
  std::vector<GroupNorm> group_norms;  ///< likewise, by part of the model
  GradientNoise noise;                 ///< empty if a batch has one part
  double waited = 0;                   ///< seconds spent on other ranks: their gradients, norms and weights
  std::vector<double> rank_seconds;    ///< time of each rank for its gradient; empty for one rank
  bool broken_off = false;  ///< by WorkersOptions::stop: nothing was stepped, and the other fields are meaningless
  bool finite = true;       ///< false: loss or gradient was NaN, infinite or beyond the limits; nothing was stepped
};

/// The result of a pass over a validation set.
struct Evaluation {
  double cross_entropy = 0;  ///< mean per target token, without label smoothing, in nats
  std::int64_t tokens = 0;
  double perplexity() const;  ///< e^cross_entropy
};

class Workers {
 public:
  /// All references must outlive this object.
  Workers(model::Model& model, Optimizer& optimizer, WorkersOptions options);

  /// One update from the batches, whose gradients are accumulated. Dropout is a function of the seed, `number`, the
  /// batch and the part. An exception of a worker before the step leaves the weights unchanged. Every rank gets all of
  /// the update's batches, and computes its share. @throws Error also if a rank has other batches
  UpdateResult update(std::span<const Batch> batches, std::int64_t number, double rate,
                      const UpdateLimits& limits = {});

  /// The loss over the batches; no weight changes.
  /// @param stop  polled before each batch, by many threads at once: true ends the pass, and its result is meaningless.
  ///   Not polled if weights are sharded
  Evaluation evaluate(std::span<const Batch> batches, const std::function<bool()>& stop = {});

  /// Sends the values [trained window] that this rank owns to all ranks, and receives theirs; does nothing for one rank.
  void share(Tensor values) { reducer_->share(values); }
  /// Runs `work` while the first rank has all weights.
  void with_whole_weights(const std::function<void()>& work) { reducer_->with_whole_weights(work); }

  /// Updates the transposed weights, after other code has written the weights.
  void refresh() { reducer_->refresh_all(); }

  int threads() const { return passes_.threads(); }
  /// The most bytes that all arenas have taken from the system, and how often one of them had to grow.
  std::size_t arena_bytes() const { return passes_.arena_bytes(); }
  std::uint64_t arena_growths() const { return passes_.arena_growths(); }

  /// The time of all updates since restart_profile(), by op, over all threads; empty without options.profile. Time
  /// outside of ops is the row "update".
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
