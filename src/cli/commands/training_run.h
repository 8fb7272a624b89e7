// A whole training run, as `tril train` and the Python package make it: its directory, log and report besides the loop.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "base/fields.h"
#include "train/loop/options.h"
#include "train/loop/trainer.h"

namespace tril::cli {

/// Callbacks on the first rank, which may be empty.
struct TrainingWatch {
  std::function<void(const train::TrainingReport&)> on_update;        ///< after every update
  std::function<void(const train::ValidationReport&)> on_validation;  ///< after its lines are in the directory
  /// Before anything of the run is changed; again if the run loses ranks. It may throw, which ends the run.
  std::function<void()> on_start = {};
  std::function<void(const train::TrainingReport&)> on_report = {};    ///< after its line is in the directory
  std::function<void(const train::RollbackReport&)> on_rollback = {};  ///< likewise
};

/// Trains until the options end the run or `stop` is requested, which saves it. Resumes a run of the same options.
/// @param fields  those of `o`, which record what was given
/// @param quiet   without a progress line
/// @return  nothing on ranks other than the first
/// @throws Error(usage) for contradicting options, and Error as the Trainer
std::optional<train::TrainingSummary> run_training(train::TrainOptions& o, const Fields& fields, bool quiet,
                                                   const std::stop_token& stop, const TrainingWatch& watch);

}  // namespace tril::cli
