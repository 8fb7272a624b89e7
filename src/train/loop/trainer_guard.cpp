// The trainer's guard: what happens to an update whose loss, gradient or weights are not finite.
#include <spdlog/spdlog.h>

#include "base/number_text.h"
#include "train/loop/tell.h"
#include "train/loop/trainer.h"

namespace tril::train {
namespace {

constexpr std::int64_t most_skipped_in_a_row = 100;

// The figures of an update that must not be applied.
std::string broken(const UpdateResult& r) {
  return fmt::format("the loss is {}, the gradient's norm {}", number_text(r.loss), number_text(r.gradient_norm));
}

}  // namespace

bool Trainer::guard(const UpdateResult& result, const TrainingState& before) {
  const NanGuard policy = options_.learning.nan_guard;
  if (policy == NanGuard::rollback) {
    if (state_.rollbacks >= options_.learning.max_rollbacks) stop_at_nan(result, before);
    roll_back(result, before);
    return true;
  }
  if (policy == NanGuard::stop || ++skipped_in_a_row_ >= most_skipped_in_a_row) stop_at_nan(result, before);
  ++state_.skipped;
  spdlog::warn("update {}: {}; skipped", before.position.updates + 1, broken(result));
  return false;
}

// Restores the weights and moments of the last checkpoint, but continues with the current data: the batches in between
// do not come again in this epoch. Saves at once, so that a killed run resumes after the rollback.
void Trainer::roll_back(const UpdateResult& result, const TrainingState& before) {
  finish_saving();
  TrainingState good = store_.read_state();
  store_.load_weights(model_.parameters(), *optimizer_);
  optimizer_->set_steps(good.optimizer_steps);
  workers_->refresh();
  good.position.epochs = corpus_->state().epoch;
  good.position.tokens = before.position.tokens;
  good.position.minutes = before.position.minutes;
  good.best = before.best, good.best_update = before.best_update, good.stalled = before.stalled;
  good.skipped = before.skipped;
  good.rollbacks = before.rollbacks + 1;
  good.rate_factor = before.rate_factor * options_.learning.rollback_rate;
  state_ = good;
  save(corpus_->state());
  spdlog::warn("update {}: {}; returning to update {} and continuing with other data (rollback {} of {})",
               before.position.updates + 1, broken(result), state_.position.updates, state_.rollbacks,
               options_.learning.max_rollbacks);
  tell(hooks_.on_rollback, RollbackReport{state_.position, before.position.updates + 1, state_.shown_update,
                                          result.loss, result.gradient_norm, state_.rollbacks});
}

void Trainer::stop_at_nan(const UpdateResult& result, const TrainingState& before) {
  state_ = before;
  const bool whole = finite_weights();  // the update may have been applied before that was detected
  if (whole) save(before.corpus);
  finish_saving();
  fail(
      "update " + std::to_string(state_.position.updates + 1),
      fmt::format(
          "{}; {}", broken(result),
          whole ? "the state before this update is saved"
                : "it produced weights that are not finite; the last checkpoint in " + store_.path() + " remains"),
      options_.learning.nan_guard == NanGuard::rollback
          ? "`max_rollbacks` is reached: raise it with a lower `rollback_rate`, or start over with a lower `learn_rate`"
          : "pass `nan_guard` skip or rollback to continue without such updates, or start over with a lower "
            "`learn_rate`");
}

}  // namespace tril::train
