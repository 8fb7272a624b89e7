// The state of a training run on disk, so that a run killed at any moment goes on as if it had not been.
//
//   DIR/checkpoint/last                 one line: the name of the state that counts, replaced whole (rename)
//   DIR/checkpoint/state-00001200/      weights.safetensors (weights, moments, average), state.json
//   DIR/checkpoint/state-00001200/moments-0-of-4.safetensors ...   the moments, where several ranks have trained: each has
//                                       written its own, and any number of ranks reads them
//   DIR/checkpoint/average-00001200.safetensors   weights that enter an average (see averaging.h)
//
// Weights follow from the update, so a state that is saved again is its state.json replaced whole. Otherwise a state is
// written beside (state-N.new), synced, renamed, and only then named by `last`; older ones go after that. At
// any point between two system calls `last` names a complete state. Random numbers need no state of their own: they are
// functions of the seed, the update's number and the place in it.
//
// Weights and moments stand still from the end of one update until the next one has its gradient, and that is when they are
// read, by a thread beside the training ones: nothing is copied, and nobody waits unless the file system takes longer than
// the gradient. What follows (syncing, renaming, removing) goes on beside the updates after it.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corpus/corpus.h"
#include "dist/ranks.h"
#include "train/loop/report_sums.h"
#include "train/loop/units.h"
#include "train/optim/guard.h"
#include "train/optim/optimizer.h"

namespace tril::train {

/// Everything that a run is besides its weights and moments.
struct TrainingState {
  Position position;
  CorpusState corpus;
  std::int64_t optimizer_steps = 0;
  std::int64_t skipped = 0;    ///< updates left out by the guard
  std::int64_t rollbacks = 0;  ///< how often the guard has gone back
  double rate_factor = 1;      ///< what rollbacks have made of the learning rate
  UsualUpdate usual;           ///< what the guard compares with
  ReportSums sums;             ///< of the updates since the last report
  std::optional<double> best;  ///< the first validation metric at its best
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;            ///< validations since
  bool validation_due = false;         ///< the one at this update was broken off: it comes before the next update
  std::int64_t shown_update = -1;      ///< when the model was last validated or, without a set, written; -1: never
  std::int64_t batches = 0;            ///< of an update, over all ranks; 0: not yet known
  std::vector<std::string> snapshots;  ///< files in checkpoint/ that the next average takes in, oldest first
  std::string options;                 ///< to_json(fields_of(options))
};

class CheckpointStore {
 public:
  /// @param directory  of the model, which all ranks see; DIR/checkpoint is made, and locked by the first rank until this is
  /// destroyed
  /// @throws Error where another job holds the lock, or a rank does not see the directory
  CheckpointStore(const std::string& directory, std::int64_t keep,
                  std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone());
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// DIR/checkpoint
  const std::string& path() const { return path_; }
  /// Whether there is a state, be it one from before the first update or of a run that is given up.
  bool has_state() const;
  /// Whether there is a state with updates in it to go on from. What failed before the first has nothing to lose: its
  /// command is given again as if for the first time, with whatever options were wrong put right.
  bool has_progress() const;
  /// From here on one without updates has them to go on from as well: it is of this process's run, whose options are right.
  void count_beginning() { beginning_counts_ = true; }
  /// From here on no run goes on from what is there, and one may still begin anew over it: has_state() without
  /// has_progress(). For what has to be done before clear().
  void abandon();
  /// Forgets every state: a run begins anew.
  void clear();
  /// Removes what a killed process had not finished, whose room the next state may need. There is a state.
  void remove_unfinished();

  /// Begins to make this the state that counts; all ranks call it, once the save before is done. Until wait_until_read() has
  /// returned, `parameters` and `optimizer` must stay as they are. The state counts when saving() is false again; on an
  /// Error of this call or of advance(), which then all ranks get, the one before still does.
  void save(const TrainingState& state, const nn::Parameters& parameters, const Optimizer& optimizer);
  /// Returns when the weights and moments of this process may change.
  void wait_until_read();
  /// Whether what was begun is not yet done; the same in all ranks.
  bool saving() const { return stage_ != Stage::none; }
  /// Whether this rank has nothing to wait for in the stage at hand.
  bool is_ready() const;
  /// Ends the stage at hand, waiting where it must, and begins the next; all ranks call it.
  void advance();
  /// state.json of the state that counts.
  TrainingState read_state() const;
  /// Its weights and moments, into `parameters` and `optimizer`. @throws Error where they are of another model
  void load_weights(nn::Parameters& parameters, Optimizer& optimizer) const;

 private:
  void lock(const std::string& file);
  void leave_no_trace();
  std::string last() const;
  std::string begun() const;  ///< where the state at hand is written before it counts
  void commit() const;
  void remove_others(const TrainingState& state) const;
  void remove_all() const;
  void write_own(const std::string& directory, const nn::Parameters& parameters, const Optimizer& optimizer,
                 std::promise<void>& read) const;

  /// Each rank writes what is its own; then the first one makes it count.
  enum class Stage : std::uint8_t { none, writing, committing };

  std::string path_;
  std::int64_t keep_;
  bool made_model_directory_ = false, made_directory_ = false;  ///< by this process
  bool beginning_counts_ = false;
  std::shared_ptr<dist::Ranks> ranks_;
  int lock_ = -1;
  Stage stage_ = Stage::none;
  TrainingState saved_;          ///< what is being saved
  std::future<void> read_;       ///< of `writing`: the memory
  std::future<void> stage_end_;  ///< of this rank's work in the stage at hand; invalid where it has none
};

}  // namespace tril::train
