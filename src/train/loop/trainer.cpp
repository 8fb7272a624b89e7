#include "train/loop/trainer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/number_text.h"
#include "train/distributed/initialise.h"
#include "train/loop/data.h"
#include "train/loop/derived_settings.h"
#include "train/loop/stored_options.h"
#include "train/loop/tell.h"
#include "train/loss/teachers.h"

namespace tril::train {
namespace {

void add(ReportSums& sums, const UpdateResult& r, double took) {
  sums.seconds += took;
  sums.tokens += r.tokens;
  if (!r.finite) return;
  sums.loss += r.loss * static_cast<double>(r.tokens);
  sums.norm += r.gradient_norm;
  sums.noise.add(r.noise);
  if (sums.groups.size() != r.group_norms.size())
    sums.groups = r.group_norms;
  else
    for (std::size_t i = 0; i < sums.groups.size(); ++i) sums.groups[i].norm += r.group_norms[i].norm;
  sums.counted += r.tokens;
  ++sums.updates;
}

TrainingReport report_of(const ReportSums& sums, const TrainingState& state, double rate) {
  TrainingReport t;
  t.position = state.position;
  t.loss = sums.counted ? sums.loss / static_cast<double>(sums.counted) : std::nan("");
  t.gradient_norm = sums.updates ? sums.norm / static_cast<double>(sums.updates) : std::nan("");
  t.rate = rate;
  t.tokens_per_second = sums.seconds > 0 ? static_cast<double>(sums.tokens) / sums.seconds : 0;
  t.skipped = state.skipped;
  t.noise_scale = sums.noise.scale();
  t.group_norms = sums.groups;
  for (GroupNorm& g : t.group_norms) g.norm /= static_cast<double>(sums.updates);
  t.since = sums.since;
  return t;
}

}  // namespace

Trainer::Trainer(TrainOptions options, TrainedModel trained, CheckpointStore& store, TrainerHooks hooks,
                 std::shared_ptr<dist::Ranks> ranks)
    : options_(std::move(options)),
      model_(trained.model),
      store_(store),
      ranks_(std::move(ranks)),
      hooks_(std::move(hooks)),
      schedule_(schedule_of(options_.learning)),
      tokenizer_(std::move(trained.tokenizer)) {
  const Fields fields = fields_of(options_);
  options_json_ = to_json(fields);
  OptimizerOptions optimizer = optimizer_options(options_.learning);
  optimizer.seed = options_.run.seed;
  optimizer.shard_weights = options_.run.shard_weights;
  optimizer_ = std::make_unique<Optimizer>(model_.parameters(), optimizer, ranks_->rank(), ranks_->size());
  valid_ = read_validation_set(options_, tokenizer_);
  if (ranks_->first())
    for (const std::string& remark : remarks(valid_, options_)) spdlog::warn("{}", remark);
  sample_texts_ = read_samples(options_);
  if (!ranks_->broadcast(ranks_->first() && store_.has_progress() ? "goes on" : "").empty())
    go_on();
  else
    begin();
  WorkersOptions w = workers_options(options_, model_);
  w.ranks = ranks_;
  w.before_step = [this] { store_.wait_until_read(); };
  w.stop = hooks_.stop;
  if (w.loss.guided) model_.set_alignment_heads(w.loss.guided->heads);
  w.loss.teachers = teachers_of(options_.learning.teacher, *tokenizer_, options_.data.max_length);
  workers_ = std::make_unique<Workers>(model_, *optimizer_, std::move(w));
}

Trainer::~Trainer() {
  store_.wait_until_read();
}

void Trainer::begin() {
  initialise(model_.parameters(), *optimizer_, options_.run.seed);
  if (hooks_.load_start) hooks_.load_start();
  optimizer_->start_average();
  corpus_ = training_stream(options_, tokenizer_);
  state_.batches = options_.learning.accumulate * ranks_->started();
  store_.clear();  // its checkpoints without updates may have other sizes
  // From here on, the directory of a killed run differs from one that holds only a model.
  save(corpus_->state());
  finish_saving();
}

void Trainer::go_on() {
  state_ = store_.read_state();
  TrainOptions before;
  Fields was = fields_of(before);
  fields_from_json(was, state_.options, store_.path());
  if (const std::string changes = forbidden_changes(was, fields_of(options_)); !changes.empty())
    fail_usage(options_.run.model, "the run in this directory has different options: " + changes,
               "use the same options to resume, or pass `overwrite` to start over");
  store_.load_weights(model_.parameters(), *optimizer_);
  optimizer_->set_steps(state_.optimizer_steps);
  // The size of an update does not depend on the number of ranks that resume.
  if (state_.batches == 0) state_.batches = options_.learning.accumulate;
  if (ranks_->first() && state_.batches < ranks_->size())
    spdlog::warn("an update of this run has {}: {} of the {} ranks have nothing to do",
                 counted(state_.batches, "batch", "batches"), ranks_->size() - state_.batches, ranks_->size());
  store_.remove_unfinished();
  corpus_ = training_stream(options_, tokenizer_, state_.corpus);
  told_data_ = true;
  tell(hooks_.on_resume, state_.position);
}

bool Trainer::finite_weights() const {
  std::array<double, 1> broken{optimizer_->finite_weights(kern::best()) ? 0.0 : 1.0};
  if (optimizer_->shards_weights()) ranks_->all_reduce(broken);  // each rank has checked its own
  return broken[0] == 0;
}

// A rate that is far too high may overflow weights while the loss and the gradient were still finite.
void Trainer::check_weights() const {
  if (finite_weights()) return;
  if (state_.position.updates == 0 && !options_.tune.init_from.empty())
    fail(options_.tune.init_from, "has weights that are not finite", "download it again, or choose another model");
  fail("update " + std::to_string(state_.position.updates),
       "it produced weights that are not finite, which are not saved; the last checkpoint in " + store_.path() +
           " remains",
       "pass `overwrite` to start over with a lower `learn_rate`");
}

void Trainer::save(const CorpusState& corpus) {
  check_weights();
  state_.corpus = corpus;
  state_.optimizer_steps = optimizer_->steps();
  state_.options = options_json_;
  finish_saving();
  store_.save(state_, model_.parameters(), *optimizer_);
  if (!store_.saving()) tell(hooks_.on_save);
}

void Trainer::advance_saving() {
  if (!store_.saving()) return;
  store_.advance();
  if (!store_.saving()) tell(hooks_.on_save);
}

void Trainer::finish_saving() {
  while (store_.saving()) advance_saving();
}

void Trainer::agree() {
  const bool stop = hooks_.stop && hooks_.stop();
  std::array<double, 3> shared{ranks_->first() ? state_.position.minutes : 0.0, stop ? 1.0 : 0.0,
                               store_.is_ready() ? 1.0 : 0.0};
  ranks_->all_reduce(shared);
  state_.position.minutes = shared[0];
  stop_ = shared[1] > 0;
  if (shared[2] == ranks_->size()) advance_saving();
}

UpdateResult Trainer::one_update() {
  group_.clear();
  const bool alone = ranks_->size() == 1 && hooks_.stop;
  for (std::int64_t i = 0; i < state_.batches; ++i) {
    if (alone && i > 0 && hooks_.stop()) return {.broken_off = true};
    group_.push_back(corpus_->next());
  }
  const std::int64_t number = state_.position.updates + 1;
  const LearningOptions& l = options_.learning;
  if (l.r_drop > 0 && number == l.r_drop_start + 1) state_.usual = {};  // the losses are larger from here on
  return workers_->update(group_, number, rate_of(number), state_.usual.limits(l.spike_guard));
}

double Trainer::rate_of(std::int64_t update) const {
  return learning_rate(schedule_, update) * state_.rate_factor;
}

TrainingSummary Trainer::run() {
  TrainingSummary summary;
  double clock = seconds_now();
  const auto patience = options_.validation.early_stopping;
  const auto out_of_patience = [&] { return patience > 0 && state_.stalled >= patience; };

  restore_model();
  agree();
  if (state_.validation_due) {
    show_weights();
    agree();
  }
  while (true) {
    if (out_of_patience()) {
      summary.ending = Ending::early_stopping;
      break;
    }
    if (reached(options_.learning.after, state_.position)) break;
    if (stop_) {
      summary.ending = Ending::stopped;
      break;
    }

    const TrainingState before = state_;
    const double start = seconds_now();
    const UpdateResult result = one_update();
    const double end = seconds_now(), took = end - start;
    if (result.broken_off) {  // its batches come again on resume
      state_ = before;
      summary.ending = Ending::stopped;
      break;
    }

    const bool rolls_back = options_.learning.nan_guard == NanGuard::rollback;
    const bool broke_weights = rolls_back && result.finite && !finite_weights();
    if (!result.finite || broke_weights) {
      if (guard(result, before)) {
        clock = end;
        ++summary.updates_here;
        continue;
      }
    } else {
      skipped_in_a_row_ = 0;
      state_.usual.loss.add(result.loss);
      state_.usual.gradient_norm.add(result.gradient_norm);
    }

    state_.corpus = corpus_->state();
    ++summary.updates_here;
    state_.position.updates += 1;
    state_.position.epochs = state_.corpus.epoch;
    state_.position.tokens += result.tokens;
    state_.position.minutes += (end - std::exchange(clock, end)) / 60;  // includes the time between updates
    agree();
    for (const Stragglers::Slow& slow : stragglers_.add(result.rank_seconds))
      if (ranks_->first())
        spdlog::warn("{} takes {:.2f} s for its part of an update, the median rank {:.2f} s: all others wait for it",
                     ranks_->name_of(slow.rank), slow.seconds, stragglers_.median());
    const double rate = rate_of(state_.position.updates);
    if (const std::string report = told_data_ ? "" : corpus_->report(); !report.empty()) {
      spdlog::info("training data: {}", report);
      told_data_ = true;
    }

    add(state_.sums, result, took);
    ReportSums this_one;
    add(this_one, result, took);
    tell(hooks_.on_update, report_of(this_one, state_, rate));
    if (due(options_.run.disp_freq, before.position, state_.position)) {
      tell(hooks_.on_report, report_of(state_.sums, state_, rate));
      state_.sums = {};
    }

    // The model is saved before the checkpoint that names it: a run killed in between comes here again and rewrites it.
    const bool saves = due(options_.run.save_freq, before.position, state_.position);
    if (valid_.empty() ? saves : due(options_.validation.valid_freq, before.position, state_.position)) {
      show_weights();
      agree();  // a rank that was asked to stop makes no further update
    }
    if (saves) save(state_.corpus);
  }

  if (summary.updates_here > 0 && state_.sums.updates > 0) {  // the sums are kept for a resumed run
    TrainingReport last = report_of(state_.sums, state_, rate_of(state_.position.updates));
    last.unfinished = true;
    tell(hooks_.on_report, last);
  }
  // A stopped run resumes later and is saved as it is; a finished run validates its last weights.
  if (summary.ending == Ending::stopped) {
    if (state_.shown_update < 0) save_model();
  } else if (state_.shown_update < state_.position.updates && !state_.validation_due) {
    show_weights();
  }
  if (state_.validation_due) summary.ending = Ending::stopped;
  save(state_.corpus);
  finish_saving();
  summary.position = state_.position;
  summary.best = state_.best;
  summary.best_update = state_.best_update;
  summary.stalled = state_.stalled;
  summary.skipped = state_.skipped;
  summary.rollbacks = state_.rollbacks;
  return summary;
}

}  // namespace tril::train
