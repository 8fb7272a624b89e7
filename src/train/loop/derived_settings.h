// The settings of a run's parts that follow from its options and its model.
#pragma once

#include "train/distributed/workers.h"
#include "train/loop/options.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace tril::train {

OptimizerOptions optimizer_options(const LearningOptions& l);
/// @param m  the model to train, with its heads if there are any
WorkersOptions workers_options(const TrainOptions& o, const model::Model& m);
Schedule schedule_of(const LearningOptions& l);

}  // namespace tril::train
