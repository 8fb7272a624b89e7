#include "cli/commands/training_run.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/file.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "cli/corpus_work/align_progress.h"
#include "corpus/alignment.h"
#include "decode/texts/translator.h"
#include "dist/launch.h"
#include "model_io/source/registry.h"
#include "report/report.h"
#include "train/loop/build_model.h"
#include "train/loop/data.h"
#include "train/loop/fine_tune.h"
#include "train/loop/settle.h"
#include "train/loop/trainer.h"

namespace tril::cli {

using namespace tril::train;

namespace {

std::vector<std::string> translations(const TrainOptions& o, const model::Model& m,
                                      const std::shared_ptr<const Tokenizer>& tokenizer,
                                      std::span<const std::string> sources, const std::stop_token& stop) {
  search::TranslatorOptions t;
  t.decoding.threads = worker_threads(o.run);
  t.decoding.placement = worker_placement(o.run, Numa::none);
  t.decoding.search.beam_size = static_cast<std::int32_t>(o.validation.valid_beam);
  t.decoding.search.eos_ids = {m.special_ids().eos};
  t.decoding.search.suppress_ids = {m.special_ids().pad};
  t.max_length = static_cast<std::int32_t>(o.model.max_positions);
  search::Translator translator(m, tokenizer, t);
  std::vector<std::string> texts;
  for (const auto& n_best : translator.translate(sources, {}, {.on_partial = {}, .stop = stop}))
    texts.push_back(n_best.empty() ? std::string() : n_best.front().text);  // empty after a stop
  return texts;
}

// The progress line, whose total is known from the start (8000u) or after the first epoch (30e).
class TrainProgress {
 public:
  TrainProgress(const TrainOptions& o, bool quiet) : after_(o.learning.after), quiet_(quiet) {
    for (const Amount& a : after_) {
      if (a.unit == Unit::updates) total_ = static_cast<std::int64_t>(a.value);
      if (a.unit == Unit::epochs) epochs_ = static_cast<std::int64_t>(a.value);
    }
  }

  void update(const TrainingReport& r) {
    const std::int64_t now = r.position.updates;
    if (!line_) {
      line_.emplace(options(now - 1));
      tokens_at_start_ = r.position.tokens;
      line_->set_total(total_at(r.position, r.position.epochs > 0 ? 0.5 : 0));  // somewhere within an epoch
    } else if (r.position.epochs > epoch_) {
      line_->set_total(total_at(r.position, 0));
    }
    epoch_ = r.position.epochs;
    loss_ = loss_ == 0 || std::isnan(loss_) ? r.loss : 0.95 * loss_ + 0.05 * r.loss;
    const std::string before = epochs_ > 0
                                   ? fmt::format("epoch {}/{}", std::min(r.position.epochs + 1, epochs_), epochs_)
                                   : fmt::format("epoch {}", r.position.epochs + 1);
    const std::string after = fmt::format("loss {:.3f}  lr {:.2g}", unsigned_nan(loss_), r.rate);
    line_->update(now, {before, after, r.position.tokens - tokens_at_start_, validation_});
  }

  void validated(const ValidationReport& r, Metric metric, std::optional<double>& best) {
    const double now = score_of(r.scores, metric);
    if (r.best) best = now;
    const int digits = metric == Metric::bleu || metric == Metric::chrf ? 1 : 3;
    validation_ = fmt::format("val {} {:.{}f} (best {:.{}f})", name_of(metric), unsigned_nan(now), digits,
                              unsigned_nan(best.value_or(now)), digits);
    finish();
  }

  void finish() {
    if (line_) line_->finish();
  }

 private:
  // The total number of updates, estimated after this part of the current epoch; 0: unknown.
  std::int64_t total_at(const Position& p, double part) const {
    if (epochs_ == 0 || p.epochs == 0) return total_;
    const double each = static_cast<double>(p.updates) / (static_cast<double>(p.epochs) + part);
    const auto by_epochs = std::max<std::int64_t>(p.updates, std::llround(each * static_cast<double>(epochs_)));
    return total_ > 0 ? std::min(total_, by_epochs) : by_epochs;
  }

  ProgressOptions options(std::int64_t first) const {
    ProgressOptions p;
    p.label = "update";
    p.rate_unit = "tokens";
    p.first = first;
    p.enabled = !quiet_;
    return p;
  }

  Amounts after_;
  bool quiet_;
  std::int64_t total_ = 0, epochs_ = 0, epoch_ = 0, tokens_at_start_ = 0;
  double loss_ = 0;
  std::string validation_;
  std::optional<Progress> line_;
};

std::string validation_text(const ValidationReport& r) {
  std::string text =
      fmt::format("update {}: validation cross-entropy {:.4f}, perplexity {:.3f}", format_count(r.position.updates),
                  unsigned_nan(r.scores.cross_entropy), unsigned_nan(r.scores.perplexity));
  if (r.scores.bleu) text += fmt::format(", BLEU {:.2f}", *r.scores.bleu);
  if (r.scores.chrf) text += fmt::format(", chrF {:.2f}", *r.scores.chrf);
  return text + (r.best ? " (best)" : fmt::format(" ({} since the best)", r.stalled));
}

std::string summary_text(const TrainOptions& o, const TrainingSummary& s) {
  std::string text = s.ending == Ending::stopped          ? "stopped and saved; the same command resumes from here"
                     : s.ending == Ending::early_stopping ? "stopped early: validation no longer improves"
                                                          : "done";
  text +=
      fmt::format(": {}, {}, {} in {}", counted(format_count(s.position.updates), "update"),
                  counted(format_count(s.position.epochs), "epoch"),
                  counted(format_count(s.position.tokens), "target token"), format_duration(s.position.minutes * 60));
  if (s.best)
    text += fmt::format("; best {} {:.4g} at update {}", name_of(deciding_metric(o.validation)), *s.best,
                        format_count(s.best_update));
  if (s.rollbacks > 0) text += "; " + counted(s.rollbacks, "rollback");
  if (s.skipped > 0) text += fmt::format("; {} left out by the guard", counted(s.skipped, "update"));
  return text;
}

// Why a resumed run had nothing to do.
std::string nothing_to_do(const TrainOptions& o, const TrainingSummary& s) {
  const std::string at = fmt::format("nothing left to do at update {} (epoch {})", format_count(s.position.updates),
                                     s.position.epochs + 1);
  if (s.ending == Ending::early_stopping)
    return fmt::format(
        "{}: early stopping ended this run, {} without improvement; a higher --early-stopping than {} continues it", at,
        counted(s.stalled, "validation"), o.validation.early_stopping);
  if (has_end(o.learning.lr_schedule) && s.position.updates >= o.learning.lr_decay_updates)
    return fmt::format(
        "{}: --after {} and the end of the learning-rate schedule are reached; a new run with --init-from {} continues "
        "from its model",
        at, to_text(o.learning.after), o.run.model);
  return fmt::format("{}: --after {} is reached; a larger value continues the run", at, to_text(o.learning.after));
}

// How to use what the run has made.
std::string use_of(const TrainOptions& o) {
  const bool heads = o.tune.medusa_heads > 0;
  const std::string model = heads ? fmt::format("{} --draft-heads {}", o.tune.init_from, o.run.model) : o.run.model;
  if (is_language_model(o.model))
    return fmt::format("; to continue text: tril generate --model {} --prompt TEXT{}", model,
                       heads ? "" : " --temperature 0.8");
  return fmt::format("; to translate: tril translate --model {}{} < FILE", model, heads ? " --beam-size 1" : "");
}

void remove_model(const std::string& dir) {
  for (const char* name : {"config.json", "model.safetensors", "report.html", "adapter/adapter_config.json",
                           "adapter/adapter_model.safetensors", "medusa_lm_head.safetensors"}) {
    std::error_code problem;
    std::filesystem::remove(std::filesystem::path(dir) / name, problem);
    if (problem) fail(dir + "/" + name, "cannot be removed: " + problem.message());
  }
  sync_directory(dir);
}

// What stays the same when a run loses ranks.
struct Run {
  TrainOptions options;
  InitialModel initial;
  bool quiet;
  std::stop_token stop;
  const TrainingWatch& watch;
};

std::unique_ptr<model::Model> model_of(const TrainOptions& o, const InitialModel& initial, const Tokenizer& tokenizer) {
  return initial ? build_tuned_model(o, *initial) : build_model(o.model, tokenizer);
}

// The tokenizer of a run. A new run gets it from the first rank, which removes everything of an earlier run from the
// directory: old weights with another vocabulary would translate nonsense.
std::shared_ptr<const Tokenizer> tokenizer_of(const Run& run, const TrainOptions& o, bool goes_on,
                                              CheckpointStore& store, dist::Ranks& ranks) {
  const std::string& dir = o.run.model;
  if (goes_on) return load_tokenizer(dir);
  std::shared_ptr<const Tokenizer> tokenizer;
  ranks.by_first([&] {
    check_texts(o);
    tokenizer = make_tokenizer(o, run.initial);
    // Mistakes in sizes or files are reported before anything is removed or written.
    static_cast<void>(model_of(o, run.initial, *tokenizer));
    read_validation_set(o, tokenizer);
    if (!is_language_model(o.model)) check_corpus(given_corpus(o), *tokenizer);
    check_first_batch(o, tokenizer);
    if (o.data.guided_alignment.learn) check_marks_words(*tokenizer);
    for (const std::string& teacher : o.learning.teacher) load_teacher(teacher, *tokenizer, o.data.max_length);
  });
  // The order matters, since the process may be killed at any point: a model without a checkpoint belongs to a user,
  // and the next command must not touch it; a finished run's checkpoint without its model has nothing left to do.
  store.abandon();
  ranks.by_first([&] { remove_model(dir); });
  store.clear();
  ranks.by_first([&] {
    save_tokenizer(*tokenizer, dir);
    remove_other_tokenizers(*tokenizer, dir, o.data.vocab);
    if (o.data.guided_alignment.learn)
      learn_alignments(
          {.corpus = given_corpus(o), .files = learned_alignments(o), .tokenizer = tokenizer.get(), .quiet = run.quiet},
          run.stop);
  });
  return tokenizer ? tokenizer : load_tokenizer(dir);
}

// Restores missing configurations of existing weights; they do not depend on the weights' values.
void restore_configs(const model::Model& m, const TrainOptions& o, const InitialModel& initial) {
  const LostFiles lost = lost_files(o.run.model, o.tune);
  if (!lost.weights.empty() || lost.configs.empty()) return;
  save_tuned_configs(m, o.run.model, o.tune, initial);
  for (const std::string& name : lost.configs)
    spdlog::warn("{}/{}: is missing or empty; writing it again", o.run.model, name);
}

// The progress of a run in this process before it lost ranks.
struct RunSoFar {
  bool begun = false;  ///< it has a checkpoint of its own in the directory
  std::string lost;    ///< names of the ranks lost since all were running; "": none
  void get_under_way() {
    begun = true;
    lost.clear();
  }
  void lose(const std::string& names) { lost += (lost.empty() ? "" : ", ") + names; }
};

std::optional<TrainingSummary> train_model(const Run& run, const std::shared_ptr<dist::Ranks>& ranks,
                                           RunSoFar& so_far) {
  const bool first = ranks->first(), quiet = run.quiet || !first;
  TrainOptions o = run.options;
  share_cores(o.run, *ranks);
  const MemoryPlaced memory(o.run.placement.numa, MemoryOf::all_threads);
  if (o.run.shard_weights && ranks->size() == 1)
    spdlog::warn("--shard-weights: this is the only process, so it has all weights; mpirun starts several");
  const std::string& dir = o.run.model;
  CheckpointStore store(dir, o.run.keep_checkpoints, ranks);
  if (so_far.begun) {
    o.run.overwrite = false;
    store.count_beginning();
  }
  bool goes_on = false;
  ranks->by_first([&] {
    if (run.watch.on_start) run.watch.on_start();
    goes_on = !o.run.overwrite && store.has_progress();
    if (!o.run.overwrite && !store.has_state() && std::filesystem::exists(dir + "/config.json"))
      fail_usage(dir, "holds a model but no checkpoint to resume from", "choose another --model, or pass --overwrite");
    // Checked before anything in the directory is removed.
    if (const std::string& start = o.tune.init_from; !start.empty() && same_file(start, dir))
      fail_usage("--init-from", start + " is also --model", "choose another directory for the new model");
    for (const std::string& teacher : o.learning.teacher)
      if (same_file(teacher, dir))
        fail_usage("--teacher", teacher + " is also --model", "choose another directory for the student");
  });
  goes_on = !ranks->broadcast(goes_on ? "goes on" : "").empty();
  if (first && !so_far.lost.empty())
    spdlog::warn("{} lost: {} {}", so_far.lost,
                 ranks->size() > 1 ? fmt::format("the {} remaining ranks continue", ranks->size())
                                   : "the one remaining rank continues",
                 goes_on ? fmt::format("from update {}", format_count(store.read_state().position.updates))
                         : "from the beginning");

  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_of(run, o, goes_on, store, *ranks);
  const std::unique_ptr<model::Model> m = model_of(o, run.initial, *tokenizer);
  const Metric metric = deciding_metric(o.validation);
  TrainProgress progress(o, quiet);
  std::optional<double> best;
  RunLog log(dir);
  std::int64_t updates = 0;
  ranks->by_first([&] {
    if (goes_on) {
      const TrainingState state = store.read_state();
      best = state.best;
      updates = state.position.updates;
      log.keep_until(updates, state.shown_update);
      for (const std::string& lost : log.lost_lines(state, o)) spdlog::warn("{}", lost);
    } else {
      log.keep_until(-1, -1);
    }
  });

  TrainerHooks hooks;
  hooks.stop = [&] { return run.stop.stop_requested(); };
  if (run.initial) hooks.load_start = [&] { load_initial_weights(*m, *run.initial); };
  hooks.translate = [&](std::span<const std::string> sources) {
    return translations(o, *m, tokenizer, sources, run.stop);
  };
  hooks.save_model = [&] { save_tuned(*m, dir, o.tune, run.initial); };
  hooks.lost_weights = [&] {
    const std::vector<std::string> lost = lost_files(dir, o.tune).weights;
    return lost.empty() ? "" : dir + "/" + lost.front();
  };
  if (!first) {
    Trainer trainer(o, {*m, tokenizer}, store, std::move(hooks), ranks);
    so_far.get_under_way();
    trainer.run();
    return std::nullopt;
  }
  hooks.on_update = [&](const TrainingReport& r) {
    log.updated();
    progress.update(r);
    if (run.watch.on_update) run.watch.on_update(r);
  };
  hooks.on_report = [&](const TrainingReport& r) {
    log.add(r);
    spdlog::debug("update {}: loss {:.4f}, rate {:.3g}, {} tokens/s", r.position.updates, unsigned_nan(r.loss), r.rate,
                  std::llround(r.tokens_per_second));
    if (run.watch.on_report) run.watch.on_report(r);
  };
  hooks.on_validation = [&](const ValidationReport& r) {
    progress.validated(r, metric, best);
    log.add(r);
    log.write_html();
    spdlog::info("{}", validation_text(r));
    if (run.watch.on_validation) run.watch.on_validation(r);
  };
  hooks.on_resume = [](const Position& p) {
    spdlog::info("resuming after update {} (epoch {})", format_count(p.updates), p.epochs + 1);
  };
  hooks.on_rollback = [&](const RollbackReport& r) {
    log.add(r);
    if (run.watch.on_rollback) run.watch.on_rollback(r);
  };

  Trainer trainer(o, {*m, tokenizer}, store, std::move(hooks), ranks);
  so_far.get_under_way();
  spdlog::info("{} parameters, vocabulary {}, {}{}", format_count(m->parameters().count()),
               format_count(m->vocab_size()), ranks->size() > 1 ? fmt::format("{} ranks of ", ranks->size()) : "",
               counted(trainer.workers().threads(), "thread"));
  if (goes_on) restore_configs(*m, o, run.initial);
  log.begin({updates, m->parameters().count(), trainer.workers().threads(), ranks->size(), to_json(fields_of(o))});
  const TrainingSummary summary = trainer.run();
  progress.finish();
  log.write_html();
  const bool idle = summary.updates_here == 0 && summary.ending != Ending::stopped;
  spdlog::info("{}", idle ? nothing_to_do(o, summary) : summary_text(o, summary));
  spdlog::info("{2} in {0}, its curves in {0}/report.html{1}", dir, use_of(o),
               o.tune.medusa_heads > 0 ? "the heads are" : "the model is");
  return summary;
}

}  // namespace

std::optional<TrainingSummary> run_training(TrainOptions& o, const Fields& fields, bool quiet,
                                            const std::stop_token& stop, const TrainingWatch& watch) {
  const InitialModel initial = open_initial_model(o.tune);
  take_form(o, fields, initial);
  refuse_useless(fields, o);
  settle(o);
  const auto silence = std::chrono::milliseconds(std::llround(o.run.rank_timeout * 1000));
  const std::shared_ptr<dist::Ranks> ranks = dist::Ranks::join({silence});
  check_input_files(o);
  const Run run{.options = o, .initial = initial, .quiet = quiet, .stop = stop, .watch = watch};
  const spdlog::level::level_enum level = spdlog::get_level();
  for (RunSoFar so_far;; so_far.lose(ranks->shrink())) {
    spdlog::set_level(ranks->first() ? level : std::max(level, spdlog::level::warn));
    try {
      const std::optional<TrainingSummary> summary = train_model(run, ranks, so_far);
      ranks->leave();
      return summary;
    } catch (const dist::RankLost&) {  // the remaining ranks do what the same command would do
    }
  }
}

}  // namespace tril::cli
