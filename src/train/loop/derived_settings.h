// The settings of a run's parts that follow from its options.
#pragma once

#include "train/distributed/workers.h"
#include "train/loop/options.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"

namespace tril::train {

OptimizerOptions optimizer_options(const LearningOptions& l);
WorkersOptions workers_options(const TrainOptions& o);
Schedule schedule_of(const LearningOptions& l);

}  // namespace tril::train
