// The training loop: corpus -> workers -> schedule -> validation -> checkpoints. It knows neither command line nor
// terminal: messages go to the hooks.
//
// A run is a function of its options and data. It may end (or be killed) at any update and resume from its latest
// checkpoint: the weights are bit-identical to those of an uninterrupted run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "corpus/corpus.h"
#include "train/distributed/stragglers.h"
#include "train/distributed/workers.h"
#include "train/loop/checkpoint.h"
#include "train/loop/samples.h"
#include "train/loop/validation.h"

namespace tril::train {

/// Means over the updates since the last report.
struct TrainingReport {
  Position position;
  double loss = 0;                     ///< of the training objective, per target token
  double rate = 0;                     ///< learning rate of the latest update
  double gradient_norm = 0;            ///< before clipping, mean
  std::vector<GroupNorm> group_norms;  ///< likewise, by part of the model; empty if no update was finite
  std::optional<double> noise_scale;   ///< B_simple in target tokens, see gradient_noise.h; none: unknown
  double tokens_per_second = 0;        ///< target tokens
  std::int64_t skipped = 0;            ///< updates skipped by the guard since the beginning of the run
  /// True if the run ended before this report was due. After a resume, the next report includes its updates too.
  bool unfinished = false;
  /// The update after which the means begin, if earlier ones are unknown (from a checkpoint of an older version).
  std::optional<std::int64_t> since;
};

/// The guard went back to the last checkpoint.
struct RollbackReport {
  Position position;      ///< where the run is now
  std::int64_t from = 0;  ///< the broken update
  std::int64_t shown_update = -1;
  double loss = 0, gradient_norm = 0;  ///< of the broken update
  std::int64_t rollbacks = 0;          ///< since the beginning of the run
};

struct ValidationReport {
  Position position;
  ValidationScores scores;
  bool best = false;         ///< better than all before, by the first metric
  std::int64_t stalled = 0;  ///< validations since the best one
  Samples samples;           ///< of `valid_samples`; none if the hooks cannot translate
};

/// The loop's callbacks. Those marked (*) are required; those marked (**) are called on every rank.
struct TrainerHooks {
  std::function<void(const TrainingReport& now)> on_update;  ///< after every update, with means of that update only
  std::function<void(const TrainingReport&)> on_report;      ///< every `disp_freq`
  std::function<void(const ValidationReport&)> on_validation;
  std::function<void(const Position&)> on_resume;  ///< once, before the first update of a resumed run
  std::function<void()> on_save;                   ///< after each checkpoint
  /// (**) returns true once a stop is requested: the loop saves and returns after the current update. With one
  /// rank, an update of several batches and a validation are broken off and repeated on resume. Called by many threads at once.
  std::function<bool()> stop;
  std::function<void(const RollbackReport&)> on_rollback;
  std::function<void()> load_start;  ///< (**) sets the weights of a new run, after initialisation
  std::function<void()> save_model;  ///< (*) writes the current model to its directory
  /// The name of a weights file that save_model wrote and that is now missing; "" if none is. May be unset.
  std::function<std::string()> lost_weights;
  Translate
      translate;  ///< (*) (**) if BLEU or chrF is measured; shows samples. Its result is ignored after a stop request
};

enum class Ending : std::uint8_t { completed, early_stopping, stopped };

struct TrainingSummary {
  Position position;
  std::int64_t updates_here = 0;  ///< made by this run(), without those before a resume
  Ending ending = Ending::completed;
  std::optional<double> best;  ///< the best value of the first metric
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;  ///< validations since the best
  std::int64_t skipped = 0, rollbacks = 0;
};

/// A model and the tokenizer of its texts.
struct TrainedModel {
  model::Model& model;  ///< with parameters allocated; must outlive the trainer
  std::shared_ptr<const Tokenizer> tokenizer;
};

class Trainer {
 public:
  /// Resumes from the directory's checkpoint if there is one; otherwise initialises the weights by the seed.
  /// @param options  settled
  /// @param store  must outlive this object
  /// @param ranks  the processes that train this model together: all must make the same calls with the same options and
  ///   files. All hooks are called on the first rank, and those marked (**) on the others too
  /// @throws Error if the directory's run had other options that matter
  Trainer(TrainOptions options, TrainedModel trained, CheckpointStore& store, TrainerHooks hooks,
          std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone());
  ~Trainer();

  /// Trains until `after`, early stopping or the stop hook. @throws Error for bad data, a full disk, or a non-finite
  /// loss under `nan_guard` stop; saved checkpoints remain
  TrainingSummary run();

  const Workers& workers() const { return *workers_; }

 private:
  void begin();
  void go_on();
  bool finite_weights() const;
  /// @throws Error if the weights are not finite: every checkpoint can be resumed
  void check_weights() const;
  /// Begins to save a checkpoint, which is written in the background.
  void save(const CorpusState& corpus);
  void advance_saving();
  void finish_saving();
  /// Validates the weights to be shown and, if they are the best, saves the model. Without a validation set, only saves
  /// it. A validation that a stop interrupts is repeated after the resume.
  void show_weights();
  void save_model();
  /// Writes the model again if a resumed run finds its file missing. @throws Error if no checkpoint has its weights
  void restore_model();
  void take_snapshot();
  std::vector<float> shown_weights();
  [[noreturn]] void stop_at_nan(const UpdateResult& result, const TrainingState& before);
  UpdateResult one_update();
  /// Synchronises the ranks: takes the first one's clock, shares stop requests, and advances a save that all have
  /// finished.
  void agree();
  /// `translate`, with each rank translating a share of the lines.
  std::vector<std::string> translate_together(std::span<const std::string> sources);
  double rate_of(std::int64_t update) const;
  /// Handles an update that was not applied, or that broke the weights. @return whether the run went back
  bool guard(const UpdateResult& result, const TrainingState& before);
  void roll_back(const UpdateResult& result, const TrainingState& before);

  TrainOptions options_;
  std::string options_json_;
  model::Model& model_;
  CheckpointStore& store_;
  std::shared_ptr<dist::Ranks> ranks_;
  TrainerHooks hooks_;
  Schedule schedule_;

  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Workers> workers_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<BatchStream> corpus_;
  ValidationSet valid_;
  std::vector<SampleText> sample_texts_;
  TrainingState state_;
  std::vector<Batch> group_;  // the batches of one update
  std::int64_t skipped_in_a_row_ = 0;
  bool stop_ = false;  // any rank was asked to stop
  Stragglers stragglers_;
  bool told_data_ = false;  // the corpus statistics are reported once, after a complete pass
};

}  // namespace tril::train
