// What one token costs: multiply-adds, and the memory that it leaves in the cache. The numbers come from the ops themselves: one
// step of the model runs over weights that are all zero, and its profile counts the work. So they hold for every family, and for
// the code that runs, not for a formula beside it. Zeros take no memory, and no weights are read from files.
#pragma once

#include <cstdint>

#include "model/spec/model.h"

namespace tril::train {

/// Multiply-adds by what they are for.
struct MultiplyAdds {
  double products = 0;   ///< with weights
  double attention = 0;  ///< scores, and sums of values
  double recurrent = 0;  ///< states of recurrent layers
  double total() const { return products + attention + recurrent; }
};

struct ModelCost {
  std::int64_t length = 0;  ///< tokens of the text, and of the source
  MultiplyAdds token = {};  ///< of the text's last token, with logits
  MultiplyAdds source =
      {};  ///< of a source token, with its keys and values for the decoder: the mean over `length` tokens
  double cache_bytes = 0;   ///< keys and values of one more token, in float32; 0: none
  double state_bytes = 0;   ///< of recurrent layers, of each row, whatever its length
  double memory_bytes = 0;  ///< keys and values of a source token, in float32
};

/// @param m  has no weights yet; afterwards it has zeros, and no other use
/// @param length  at least 1
/// @throws Error(usage) if the model has fewer positions, or no step that can run by itself
ModelCost cost_of(model::Model& m, std::int64_t length);

}  // namespace tril::train
