// The windows of EXAONE's families.
#pragma once

#include "model/spec/llama_like_config.h"

namespace tril::model {

/// Reads sliding_window, layer_types and sliding_window_pattern. Only layers with a window rotate queries and keys; without
/// windows, all do.
void read_exaone_windows(ConfigReader& reader, LlamaLikeConfig& k);

}  // namespace tril::model
