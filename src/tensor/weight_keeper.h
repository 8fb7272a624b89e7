// Loads weights only while they are needed: the computation announces which layer comes next.
#pragma once

#include <string_view>

namespace tril {

class WeightKeeper {
 public:
  virtual ~WeightKeeper() = default;
  /// The named layer is about to compute, forwards or (if a tape recorded it) backwards. Returns when its weights
  /// are in memory; those of the previous layer may be released.
  virtual void need(std::string_view layer) = 0;
  /// The backward pass has left the layer: its gradient is complete, and its weights are no longer needed.
  virtual void passed(std::string_view layer) = 0;
};

}  // namespace tril
