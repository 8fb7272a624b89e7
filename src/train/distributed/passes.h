// A rank's computation in an update: the losses and gradients of its parts. A part of a batch takes one pass through
// the model, forward and backward; a large part takes several. Each worker is one thread with its own arena and tape,
// and takes every n-th part. A GradientReducer then reduces the parts' gradients.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/as_size.h"
#include "base/team.h"
#include "corpus/batch.h"
#include "model/spec/model.h"
#include "train/distributed/workers_options.h"

namespace tril::train {

/// Consecutive batches of an update, starting with number `first`, each split into parts.
struct BatchParts {
  std::size_t first = 0;
  std::vector<std::vector<Batch>> parts;  ///< by batch and part

  std::int64_t target_tokens() const;
  std::int64_t target_tokens_of(std::size_t part) const;
  /// Only batch `number` of the update.
  BatchParts only(std::size_t number) const { return {number, {parts[number - first]}}; }
};

/// An update from the view of one rank.
struct Update {
  std::int64_t number = 0;
  std::size_t batches = 0;         ///< of all ranks
  std::int64_t target_tokens = 0;  ///< of all ranks
  BatchParts own;                  ///< this rank's batches
};

/// The unit of work that goes through the model at a time.
struct Pass {
  Batch batch;
  RandomKey key, shared_key;  ///< for dropout; for decisions that all parts share
  std::size_t part = 0;       ///< to whose gradient it adds
  std::size_t loss = 0;       ///< its index in losses()
};

class Passes {
 public:
  /// The model must outlive this object.
  Passes(model::Model& model, const WorkersOptions& options);

  Team& team() { return team_; }
  int threads() const { return team_.size(); }
  Context& context(int member) { return workers_[as_size(member)]->context; }
  /// By part, each in the layout of the trained weights.
  std::vector<Tensor>& gradients() { return gradients_; }
  const std::vector<Tensor>& gradients() const { return gradients_; }
  std::size_t parts() const { return gradients_.size(); }

  /// Begins an update: clears the losses.
  /// @param may_break_off  whether to poll WorkersOptions::stop
  void begin(const Update& update, bool may_break_off);
  /// By this rank's batch and part.
  const std::vector<double>& losses() const { return losses_; }
  /// Whether the update was broken off, so that its remaining passes are skipped.
  bool broken_off() const { return broken_off_; }

  /// Computes every part's gradient of `batches` on the whole team.
  /// @param complete  called with a parameter's id when its gradient in a part is complete, once for each part, on the
  ///   thread that computes it; may be empty
  void compute(const BatchParts& batches, const std::function<void(std::uint64_t)>& complete = {});

  // The single steps of compute(), for callers that work between passes.
  std::vector<Pass> passes_of(const BatchParts& batches, std::size_t part) const;
  /// Runs work(member) on the whole team, and waits for all of it.
  void run(const std::function<void(int member)>& work);
  /// Begins a new sum.
  void restart(std::size_t part) { grads_[part]->restart(); }
  /// Adds the gradient of one pass to its part's, and adds its loss.
  void add(int member, const Pass& pass);

  Profile profile() const;
  void restart_profile();
  std::size_t arena_bytes() const;
  std::uint64_t arena_growths() const;

 private:
  struct Worker {
    explicit Worker(const kern::Kernels& kernels) : context(arena, kernels) {}
    Arena arena;
    Context context;
    Tape tape;
    Profile profile;
  };
  bool ask_to_break_off();
  void compute_part(int member, std::span<const Pass> passes, std::size_t part,
                    const std::function<void(std::uint64_t)>& complete);

  model::Model& model_;
  WorkersOptions options_;
  Team team_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Tensor> gradients_;
  std::vector<std::unique_ptr<Grads>> grads_;  // by part, bound to gradients()

  // Of the current update:
  std::int64_t number_ = 0;
  double target_tokens_ = 1;     // of all ranks
  std::size_t first_batch_ = 0;  // the first of this rank
  LossSettings loss_;
  std::vector<double> losses_;
  bool may_break_off_ = false;
  std::atomic<bool> broken_off_ = false;
};

}  // namespace tril::train
