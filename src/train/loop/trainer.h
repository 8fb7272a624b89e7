// The training loop: corpus -> workers -> schedule -> validation -> checkpoints. It knows no command line and no
// terminal: what there is to tell goes to the hooks.
//
// A run is a function of its options and data. It may end at any update (or be killed) and go on from its latest state:
// the weights come out bit for bit as if it had never stopped.
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

/// Means over the updates since the report before.
struct TrainingReport {
  Position position;
  double loss = 0;                     ///< for each target token, of what is minimised
  double rate = 0;                     ///< learning rate of the latest update
  double gradient_norm = 0;            ///< before clipping, mean
  std::vector<GroupNorm> group_norms;  ///< the same by part of the model; empty where no update was finite
  std::optional<double> noise_scale;   ///< B_simple in target tokens, see gradient_noise.h; none: cannot be told
  double tokens_per_second = 0;        ///< target tokens
  std::int64_t skipped = 0;            ///< updates that the guard has left out, since the beginning of the run
  /// Whether the run ended before this report was due: once it goes on, the next one has these updates too.
  bool unfinished = false;
  /// The update behind which the means begin, where those before it are not known (of a state of an older version).
  std::optional<std::int64_t> since;
};

/// The guard has gone back to the last saved state.
struct RollbackReport {
  Position position;      ///< where the run now stands
  std::int64_t from = 0;  ///< the update that was broken
  std::int64_t shown_update = -1;
  double loss = 0, gradient_norm = 0;  ///< of that one
  std::int64_t rollbacks = 0;          ///< since the beginning of the run
};

struct ValidationReport {
  Position position;
  ValidationScores scores;
  bool best = false;         ///< better than every one before, by the first metric
  std::int64_t stalled = 0;  ///< validations since the best one
  Samples samples;           ///< of `valid_samples`; none where the hooks cannot translate
};

/// What the loop tells and asks. Those marked (*) must be there; (**) is asked of every rank.
struct TrainerHooks {
  std::function<void(const TrainingReport& now)> on_update;  ///< after every update: means are of that update alone
  std::function<void(const TrainingReport&)> on_report;      ///< every `disp_freq`
  std::function<void(const ValidationReport&)> on_validation;
  std::function<void(const Position&)> on_resume;  ///< once, before the first update of a run that goes on
  std::function<void()> on_save;                   ///< after each state that was saved
  /// (**) true, from some moment on: save and return after the update that runs. One of several batches is broken off where
  /// there is one rank, and so is a validation: both come again when the run goes on. Asked by many threads at once.
  std::function<bool()> stop;
  std::function<void(const RollbackReport&)> on_rollback;
  std::function<void()> load_start;  ///< (**) sets the weights of a new run, after their initialisation
  std::function<void()> save_model;  ///< (*) writes the model as it stands to its directory
  /// The file of the model's weights that save_model has written and that is there no longer; "": none. Not set: all are.
  std::function<std::string()> lost_weights;
  Translate
      translate;  ///< (*) (**) where BLEU or chrF is measured; shows samples. After a stop what it gives is not used
};

enum class Ending : std::uint8_t { completed, early_stopping, stopped };

struct TrainingSummary {
  Position position;
  std::int64_t updates_here = 0;  ///< made by this run(), not by those that it goes on from
  Ending ending = Ending::completed;
  std::optional<double> best;  ///< the first metric at its best
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;  ///< validations since
  std::int64_t skipped = 0, rollbacks = 0;
};

/// What options say to those who do the work.
OptimizerOptions optimizer_options(const LearningOptions& l);
WorkersOptions workers_options(const TrainOptions& o);
Schedule schedule_of(const LearningOptions& l);

class Trainer {
 public:
  /// Goes on from the directory's state where it has one, else initialises the weights by the seed.
  /// @param options  settled
  /// @param model  its parameters allocated; must outlive this, like `store`
  /// @param ranks  the processes that train this model together: all of them make the same calls with the same options and
  /// files. The hooks of the first one are told everything, of the others those that are marked (**)
  /// @throws Error where the directory's run had other options that matter
  Trainer(TrainOptions options, model::Model& model, std::shared_ptr<const Tokenizer> tokenizer, CheckpointStore& store,
          TrainerHooks hooks, std::shared_ptr<dist::Ranks> ranks = dist::Ranks::alone());
  ~Trainer();

  /// Trains until `after`, early stopping or the stop hook. @throws Error for bad data, a full disk, a loss that is not
  /// a number under `nan_guard` stop; the states saved so far remain
  TrainingSummary run();

  const Workers& workers() const { return *workers_; }

 private:
  void begin();
  void go_on();
  bool finite_weights() const;
  /// @throws Error where the weights are not finite: what is saved can be gone on from
  void check_weights() const;
  /// Begins to save the state; it is written beside the updates that follow.
  void save(const CorpusState& corpus);
  void advance_saving();
  void finish_saving();
  /// Validates the weights that are to be shown and, if they are the best, saves the model; just saves it without a
  /// set. A validation that a stop breaks off is due again.
  void show_weights();
  void save_model();
  /// Writes the model anew where a run that goes on finds its file gone. @throws Error where no state has its weights
  void restore_model();
  void take_snapshot();
  std::vector<float> shown_weights();
  [[noreturn]] void stop_at_nan(const UpdateResult& result, const TrainingState& before);
  UpdateResult one_update();
  /// Makes every rank's clock the first one's; what any rank is asked to stop by is asked of all; what all have written is
  /// made to count.
  void agree();
  /// `translate`, each rank a share of the lines.
  std::vector<std::string> translate_together(std::span<const std::string> sources);
  double rate_of(std::int64_t update) const;
  /// What the guard does with an update that was not stepped, or with one that broke the weights. Returns whether the
  /// run went back.
  bool guard(const UpdateResult& result, const TrainingState& before);
  void roll_back(const UpdateResult& result, const TrainingState& before);

  TrainOptions options_;
  std::string options_json_;
  model::Model& model_;
  CheckpointStore& store_;
  std::shared_ptr<dist::Ranks> ranks_;
  TrainerHooks hooks_;
  std::vector<Metric> metrics_;
  std::vector<Amount> after_, valid_freq_, save_freq_, disp_freq_;
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
  bool stop_ = false;  // some rank was asked to
  Stragglers stragglers_;
  bool told_data_ = false;  // what became of the files' lines, once a pass over them is complete
};

}  // namespace tril::train
