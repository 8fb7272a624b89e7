// Context: everything that a computation needs; nothing is global. It is the first argument of every op and module.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/even_partition.h"
#include "base/rng.h"
#include "base/team.h"
#include "kern/kernels.h"
#include "tensor/arena.h"
#include "tensor/profile.h"
#include "tensor/tape.h"
#include "tensor/tensor.h"
#include "tensor/weight_keeper.h"

namespace tril {

class Observer;  // tensor/observer.h

/// The computation of one thread. Threads must not share a context; they may share an arena.
class Context {
 public:
  explicit Context(Arena& arena, const kern::Kernels& kernels = kern::best()) : arena_(&arena), kernels_(&kernels) {}

  const kern::Kernels& kernels() const { return *kernels_; }
  Arena& arena() const { return *arena_; }

  /// The tape that records for the backward pass, or null: the same modules serve without one.
  Tape* tape() const { return tape_; }
  void set_tape(Tape* tape) { tape_ = tape; }

  /// Streams of random numbers for dropout.
  Rng& rng() { return rng_; }
  void set_rng(Rng rng) { rng_ = rng; }

  /// True if dropout is active.
  bool training() const { return training_; }
  void set_training(bool on) { training_ = on; }

  /// A schedule's factor for every dropout probability.
  float dropout_factor() const { return dropout_factor_; }
  void set_dropout_factor(float factor) { dropout_factor_ = factor; }

  /// The key for random decisions that are the same in all parts of a batch, such as which layers are skipped.
  RandomKey shared_key() const { return shared_key_; }
  void set_shared_key(RandomKey key) { shared_key_ = key; }

  /// Threads that share the work within one op, or null for this thread only. Training has none: each of its
  /// workers takes a part of the batch.
  Team* team() const { return team_; }
  void set_team(Team* team) { team_ = team; }
  int threads() const { return team_ ? team_->size() : 1; }
  /// Calls work(part, begin, end) for even parts of [0, n), at most threads() parts, each on one thread of the team.
  template <class F>
  void share_out(std::int64_t n, const F& work) const {
    const std::int64_t parts = std::min<std::int64_t>(threads(), n);
    if (parts <= 1) return work(0, std::int64_t{0}, n);
    team_->share(static_cast<int>(parts),
                 [&](int part) { work(part, part_begin(n, part, parts), part_begin(n, part + 1, parts)); });
  }

  /// Loads the weights of each layer before use and releases them afterwards; null: all weights are in memory.
  WeightKeeper* weight_keeper() const { return weight_keeper_; }
  void set_weight_keeper(WeightKeeper* keeper) { weight_keeper_ = keeper; }

  /// The adapters of the rows that are computed now (nn/adapters.h): one for each row, or one for all rows; -1: the model's
  /// standard adapter.
  struct Adapters {
    std::span<const std::int32_t> of_rows = {};  ///< empty: the same for all
    std::int32_t of_all = -1;
  };
  const Adapters& adapters() const { return adapters_; }
  void set_adapters(const Adapters& adapters) { adapters_ = adapters; }

  /// An uninitialised dense tensor in the arena.
  Tensor empty(Shape shape, DType dtype = DType::f32) const;
  /// Likewise a vector [values].
  Tensor empty_vector(std::size_t values, DType dtype = DType::f32) const {
    return empty({static_cast<std::int64_t>(values)}, dtype);
  }
  Tensor zeros(Shape shape) const;
  /// A dense tensor holding the host's values.
  template <class T>
  Tensor upload(std::span<const T> values, Shape shape) const {
    Tensor x = empty(shape, dtype_of<T>);
    host_write<T>(x, values);
    return x;
  }
  template <class T>
  Tensor upload(const std::vector<T>& values) const {
    return upload<T>(std::span<const T>(values), {std::ssize(values)});
  }

  /// Names the current computation for observers and profiles, until the returned value is destroyed.
  class Scope {
   public:
    explicit Scope(std::vector<std::string_view>& names) : names_(&names) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { names_->pop_back(); }

   private:
    std::vector<std::string_view>* names_;
  };
  /// `name` must outlive the scope (modules own their names; ops use literals).
  [[nodiscard]] Scope scope(std::string_view name) {
    names_.push_back(name);
    return Scope(names_);
  }
  /// "decoder.layers.3.self_attn", or "" outside every scope.
  std::string where() const;

  /// Sees the values of the pass at named points, and may replace them (tensor/observer.h); null: nothing does.
  Observer* observer() const { return observer_; }
  void set_observer(Observer* observer) { observer_ = observer; }

  /// Records where time goes; null: nothing is timed.
  void set_profile(Profile* profile) { profile_ = profile; }
  /// Opens a row of the profile until the returned value is destroyed. `work()` is called for its Work only if a
  /// profile is kept.
  template <class F>
  [[nodiscard]] Profile::Timer timed(std::string_view op, std::string_view part, F work) {
    if (profile_) profile_->open(op, part, work());
    return Profile::Timer(profile_);
  }
  /// The same for a part of the current op.
  template <class F>
  [[nodiscard]] Profile::Timer timed_part(std::string_view part, F work) {
    return timed("", part, work);
  }
  /// Adds work to the open row.
  template <class F>
  void worked(F work) {
    if (profile_) profile_->add(work());
  }

 private:
  Arena* arena_;
  const kern::Kernels* kernels_;
  Tape* tape_ = nullptr;
  Rng rng_;
  bool training_ = false;
  float dropout_factor_ = 1;
  RandomKey shared_key_;
  Team* team_ = nullptr;
  Adapters adapters_;
  WeightKeeper* weight_keeper_ = nullptr;
  std::vector<std::string_view> names_;
  Observer* observer_ = nullptr;
  Profile* profile_ = nullptr;
};

}  // namespace tril
