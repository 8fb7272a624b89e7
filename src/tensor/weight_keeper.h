// Weights that are in memory only while somebody computes with them: who computes says what is needed next.
#pragma once

#include <string_view>

namespace tril {

class WeightKeeper {
 public:
  virtual ~WeightKeeper() = default;
  /// The layer of this name is about to compute, forwards or (where a tape recorded it) backwards. Returns when its weights
  /// are there; those of the layer before may go.
  virtual void need(std::string_view layer) = 0;
  /// The walk back has passed the layer: its gradient is complete, and nobody asks for its weights again.
  virtual void passed(std::string_view layer) = 0;
};

}  // namespace tril
