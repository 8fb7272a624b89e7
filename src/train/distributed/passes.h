// What a rank computes of an update: the losses and gradients of its parts. A part of a batch goes through the model in one
// pass, forwards and back, a large part in several. Each worker is one thread with an arena and a tape of its own, and takes
// every so many-th part. How the parts' gradients meet is a GradientReducer's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/team.h"
#include "corpus/batch.h"
#include "model/spec/model.h"
#include "train/distributed/workers_options.h"

namespace tril::train {

/// Neighbouring batches of an update, from number `first` on, each cut into parts.
struct BatchParts {
  std::size_t first = 0;
  std::vector<std::vector<Batch>> parts;  ///< by batch and part

  std::int64_t target_tokens() const;
  std::int64_t target_tokens_of(std::size_t part) const;
  /// Batch `number` of the update alone.
  BatchParts only(std::size_t number) const { return {number, {parts[number - first]}}; }
};

/// An update as one rank sees it.
struct Update {
  std::int64_t number = 0;
  std::size_t batches = 0;         ///< of all ranks
  std::int64_t target_tokens = 0;  ///< of all ranks
  BatchParts own;                  ///< this rank's batches
};

/// What goes through the model at a time.
struct Pass {
  Batch batch;
  RandomKey key, shared_key;  ///< of dropout; of what all parts decide alike
  std::size_t part = 0;       ///< whose gradient it adds to
  std::size_t loss = 0;       ///< where in losses() it is added
};

class Passes {
 public:
  /// The model outlives this.
  Passes(model::Model& model, const WorkersOptions& options);

  Team& team() { return team_; }
  int threads() const { return team_.size(); }
  Context& context(int member) { return workers_[static_cast<std::size_t>(member)]->context; }
  /// By part, each laid out as the weights that train.
  const std::vector<Tensor>& gradients() const { return gradients_; }
  std::size_t parts() const { return gradients_.size(); }

  /// An update begins: there are no losses yet.
  /// @param may_break_off  whether WorkersOptions::stop is asked
  void begin(const Update& update, bool may_break_off);
  /// By batch of this rank and part.
  const std::vector<double>& losses() const { return losses_; }
  /// Whether what is left of the update's passes is not to be made.
  bool broken_off() const { return broken_off_; }

  /// Every part's gradient of `batches`, by all of the team.
  /// @param complete  called with each parameter's id when the gradient of a part is complete, once for each part, by the
  /// thread that computes it; may be empty
  void compute(const BatchParts& batches, const std::function<void(std::uint64_t)>& complete = {});

  // The same step by step, for those who do something between passes.
  std::vector<Pass> passes_of(const BatchParts& batches, std::size_t part) const;
  /// work(member) on all of the team; the wait for each other included.
  void run(const std::function<void(int member)>& work);
  /// Begins a new sum.
  void restart(std::size_t part) { grads_[part]->restart(); }
  /// Adds the gradient of one pass to its part's, and its loss.
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
  std::vector<std::unique_ptr<Grads>> grads_;  // by part, bound to these

  // Of this update:
  std::int64_t number_ = 0;
  double target_tokens_ = 1;     // of all ranks
  std::size_t first_batch_ = 0;  // this rank's
  LossSettings loss_;
  std::vector<double> losses_;
  bool may_break_off_ = false;
  std::atomic<bool> broken_off_ = false;
};

}  // namespace tril::train
