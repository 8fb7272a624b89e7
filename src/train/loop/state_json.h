// state.json: the state of a training run besides its weights and moments.
#pragma once

#include <string>

#include "train/loop/checkpoint.h"

namespace tril::train {

/// The text of the file, with a checksum of its contents.
std::string text_of(const TrainingState& state);

/// Parses it. Keys that older versions did not write keep their defaults.
/// @throws Error for missing or invalid keys, or a wrong checksum
TrainingState state_in(const std::string& file);

}  // namespace tril::train
