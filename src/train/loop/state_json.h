// state.json: everything that a training run is besides its weights and moments.
#pragma once

#include <string>

#include "train/loop/checkpoint.h"

namespace tril::train {

/// The text of the file, with a checksum of all else in it.
std::string text_of(const TrainingState& state);

/// Reads it back. Keys that older versions have not written keep what they mean without.
/// @throws Error for what is missing, cannot be, or is not as it was written
TrainingState state_in(const std::string& file);

}  // namespace tril::train
