// Checkpoints of a training run: a run killed at any moment resumes without any effect on its result.
//
//   DIR/checkpoint/last                 one line: the name of the current checkpoint, replaced atomically (rename)
//   DIR/checkpoint/state-00001200/      weights.safetensors (weights, moments, average), state.json
//   DIR/checkpoint/state-00001200/moments-0-of-4.safetensors ...   the moments of several ranks: each writes its own, and any
//                                       number of ranks can read them
//   DIR/checkpoint/average-00001200.safetensors   weights for an average (averaging.h)
//
// The update determines the weights, so saving the same update again only replaces state.json atomically. Otherwise a
// checkpoint is written to a temporary directory (state-N.new), synced, renamed, and only then named by `last`; older
// ones are removed after that. Between any two system calls `last` names a complete checkpoint. Random numbers need no
// saved state: they are functions of the seed, the update's number and the place in it.
//
// Weights and moments do not change from the end of one update until the next has its gradient. During that time a
// background thread reads them: nothing is copied, and training does not wait unless the file system takes longer than
// the gradient. Syncing, renaming and removing go on in the background during the following updates.
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

/// The state of a run besides its weights and moments.
struct TrainingState {
  Position position;
  CorpusState corpus;
  std::int64_t optimizer_steps = 0;
  std::int64_t skipped = 0;    ///< updates left out by the guard
  std::int64_t rollbacks = 0;  ///< how often the guard has gone back
  double rate_factor = 1;      ///< the effect of rollbacks on the learning rate
  UsualUpdate usual;           ///< the guard's reference
  ReportSums sums;             ///< of the updates since the last report
  std::optional<double> best;  ///< the best value of the first validation metric
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;            ///< validations since the best
  bool validation_due = false;         ///< this update's validation was broken off: it precedes the next update
  std::int64_t shown_update = -1;      ///< when the model was last validated or, without a set, written; -1: never
  std::int64_t batches = 0;            ///< per update, over all ranks; 0: not yet known
  std::vector<std::string> snapshots;  ///< files in checkpoint/ for the next average, oldest first
  std::string options;                 ///< to_json(fields_of(options))
};

class CheckpointStore {
 public:
  /// @param directory  the model's, visible to all ranks; DIR/checkpoint is created, and the first rank holds its lock
  ///   for the lifetime of this object
  /// @throws Error if another job holds the lock, or a rank does not see the directory
  CheckpointStore(const std::string& directory, std::int64_t keep,
                  std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone());
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// DIR/checkpoint
  const std::string& path() const { return path_; }
  /// Whether there is a checkpoint, including one from before the first update or of an abandoned run.
  bool has_state() const;
  /// Whether there is a checkpoint with updates, to resume from. A run that failed before its first update has nothing
  /// to lose: its command may be repeated, with any wrong options corrected.
  bool has_progress() const;
  /// From now on a checkpoint without updates can be resumed too: it belongs to this process's run, whose options are valid.
  void count_beginning() { beginning_counts_ = true; }
  /// From now on no run resumes from the existing checkpoints, but a new one may begin over them: has_state() without
  /// has_progress(). For work that must precede clear().
  void abandon();
  /// Removes every checkpoint: a run begins anew.
  void clear();
  /// Removes the unfinished files of a killed process, whose space the next save may need. There must be a checkpoint.
  void remove_unfinished();

  /// Begins to save this state; all ranks must call it, after the previous save is finished. Until wait_until_read()
  /// returns, `parameters` and `optimizer` must not change. The checkpoint becomes current when saving() is false
  /// again; after an Error of this call or of advance(), which all ranks get, the previous one remains current.
  void save(const TrainingState& state, const nn::Parameters& parameters, const Optimizer& optimizer);
  /// Returns when this process may change its weights and moments.
  void wait_until_read();
  /// Whether a save is in progress; the same in all ranks.
  bool saving() const { return stage_ != Stage::none; }
  /// Whether this rank's work in the current stage is finished.
  bool is_ready() const;
  /// Ends the current stage, waiting if necessary, and begins the next; all ranks must call it.
  void advance();
  /// state.json of the current checkpoint.
  TrainingState read_state() const;
  /// Reads its weights and moments into `parameters` and `optimizer`. @throws Error if they belong to another model
  void load_weights(nn::Parameters& parameters, Optimizer& optimizer) const;

 private:
  void lock(const std::string& file);
  void leave_no_trace();
  std::string last() const;
  std::string begun() const;  ///< the temporary directory of the current save
  void commit() const;
  void remove_others(const TrainingState& state) const;
  void remove_all() const;
  void write_own(const std::string& directory, const nn::Parameters& parameters, const Optimizer& optimizer,
                 std::promise<void>& read) const;

  /// Each rank writes its part; then the first one makes the checkpoint current.
  enum class Stage : std::uint8_t { none, writing, committing };

  std::string path_;
  std::int64_t keep_;
  bool made_model_directory_ = false, made_directory_ = false;  ///< by this process
  bool beginning_counts_ = false;
  std::shared_ptr<dist::Ranks> ranks_;
  int lock_ = -1;
  Stage stage_ = Stage::none;
  TrainingState saved_;          ///< the state being saved
  std::future<void> read_;       ///< of the memory, during `writing`
  std::future<void> stage_end_;  ///< of this rank's work in the current stage; invalid if none
};

}  // namespace tril::train
