// The trainer's validations: which weights are shown, whether they are the best, and the file that holds those.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/as_size.h"
#include "base/error.h"
#include "train/loop/tell.h"
#include "train/loop/trainer.h"
#include "train/optim/averaging.h"

namespace tril::train {

// Saves the weights for `average_checkpoints`.
void Trainer::take_snapshot() {
  const std::int64_t wanted = options_.learning.average_checkpoints;
  if (options_.learning.ema > 0 || wanted <= 1) return;
  std::string snapshot;
  ranks_->by_first([&] { snapshot = write_snapshot(store_.path(), state_.position.updates, model_.parameters()); });
  state_.snapshots.push_back(ranks_->broadcast(snapshot));
  if (std::ssize(state_.snapshots) > wanted) state_.snapshots.erase(state_.snapshots.begin());
}

// The weights to validate and save, if they are not the trained ones.
std::vector<float> Trainer::shown_weights() {
  if (options_.learning.ema > 0)
    return optimizer_->averaged_weights([this](Tensor values) { workers_->share(values); });
  if (options_.learning.average_checkpoints <= 1) return {};
  return mean_of_snapshots(store_.path(), state_.snapshots, model_.parameters().flat().count());
}

void Trainer::show_weights() {
  check_weights();
  store_.wait_until_read();
  const std::vector<std::string> snapshots = state_.snapshots;
  const std::int64_t shown_before = state_.shown_update;
  state_.validation_due = false;
  state_.shown_update = state_.position.updates;
  take_snapshot();
  std::optional<BorrowedWeights> borrowed;
  if (std::vector<float> shown = shown_weights(); !shown.empty())
    borrowed.emplace(model_.parameters(), kern::best(), std::move(shown));
  if (valid_.empty()) {
    save_model();
    return;
  }

  ValidationReport report;
  std::atomic<bool> broken_off = false;
  const auto stops = [&] {
    if (hooks_.stop && hooks_.stop()) broken_off = true;
    return broken_off.load();
  };
  const auto translate = [&](std::span<const std::string> sources) {
    std::vector<std::string> texts = translate_together(sources);
    stops();
    return texts;
  };
  report.scores = validate(valid_, options_.validation.valid_metrics, *workers_, translate, stops);
  if (ranks_->first() && hooks_.translate && !sample_texts_.empty() && !broken_off) {
    report.samples =
        show_samples(sample_texts_, options_.validation.valid_attention, model_, *tokenizer_, hooks_.translate);
    stops();
  }
  std::array<double, 1> breaks{broken_off ? 1.0 : 0.0};
  ranks_->all_reduce(breaks);
  if (breaks[0] > 0) {  // the update does not count; the checkpoint records that it is pending
    state_.snapshots = snapshots;
    state_.shown_update = shown_before;
    state_.validation_due = true;
    return;
  }
  const Metric metric = deciding_metric(options_.validation);
  const double now = score_of(report.scores, metric);
  report.best = better(metric, now, state_.best);
  if (report.best) {
    save_model();
    state_.best = now;
    state_.best_update = state_.position.updates;
    state_.stalled = 0;
  } else {
    ++state_.stalled;
  }
  report.position = state_.position;
  report.stalled = state_.stalled;
  tell(hooks_.on_validation, report);
}

void Trainer::save_model() {
  workers_->with_whole_weights([&] { ranks_->by_first([&] { hooks_.save_model(); }); });
}

void Trainer::restore_model() {
  const bool validates = !valid_.empty();
  if (validates ? !state_.best : state_.shown_update < 0) return;  // nothing was written yet
  std::string lost;
  ranks_->by_first([&] {
    if (hooks_.lost_weights) lost = hooks_.lost_weights();
  });
  lost = ranks_->broadcast(lost);
  if (lost.empty()) return;
  const std::int64_t now = state_.position.updates;
  // After a rollback the same update may have had other weights: then a later validation was no better.
  const bool is_best = state_.best_update == now && state_.stalled == 0;
  if (state_.shown_update == now && (!validates || is_best)) {
    std::optional<BorrowedWeights> borrowed;
    if (std::vector<float> shown = shown_weights(); !shown.empty())
      borrowed.emplace(model_.parameters(), kern::best(), std::move(shown));
    save_model();
    if (ranks_->first()) spdlog::warn("{}: is missing or empty; writing it again from the checkpoint", lost);
  } else if (validates) {
    fail(lost,
         fmt::format(
             "is missing or empty; it held the best weights, of update {}, but the checkpoint holds those of update {}",
             state_.best_update, now),
         "restore a copy of it, or pass `overwrite` to start over");
  } else {
    state_.shown_update = -1;  // the run will write it again, at its end at the latest
  }
}

std::vector<std::string> Trainer::translate_together(std::span<const std::string> sources) {
  const auto share = [&](int rank) { return share_of(sources.size(), as_size(rank), as_size(ranks_->size())); };
  const Branch own = share(ranks_->rank());
  std::vector<std::string> texts;
  ranks_->together([&] { texts = hooks_.translate(sources.subspan(own.first, own.size())); });
  for (std::string& text : texts) std::replace(text.begin(), text.end(), '\n', ' ');  // a translation is one line
  if (ranks_->size() == 1) return texts;
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  texts.clear();
  for (const std::string& theirs : ranks_->all_gather(lines))
    for (std::size_t at = 0, end; (end = theirs.find('\n', at)) != theirs.npos; at = end + 1)
      texts.push_back(theirs.substr(at, end - at));
  return texts;
}

}  // namespace tril::train
