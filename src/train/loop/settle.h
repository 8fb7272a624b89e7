// Rules across training options: contradictions, and values that follow from other options.
#pragma once

#include "train/loop/options.h"

namespace tril::train {

/// Checks across fields: contradictions, sizes that do not divide. Fills in values that follow from other options (the
/// updates of a linear or cosine schedule from `after`). @throws Error(usage)
void settle(TrainOptions& o);

/// Refuses options that would have no effect, such as a translation option for a language model.
/// @param fields  those of a command, some or all of fields_of(o), which record what was given
/// @throws Error(usage) naming the option
void refuse_useless(const Fields& fields, const TrainOptions& o);

}  // namespace tril::train
