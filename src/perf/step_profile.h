// The account of a training step: each op's share of the time beside the time that its work would take at the machine's
// roof. The rows' milliseconds add up to those of an update.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/roofline.h"
#include "tensor/profile.h"

namespace tril::train {

/// Of one update, all threads together. Time is as a clock on the wall shows it: the mean over the threads.
struct StepRow {
  std::string name;  ///< "linear: weight gradient"
  double calls = 0, milliseconds = 0;
  double share = 0;  ///< of the update's time
  Work work;
  Roofline::Bound bound = Roofline::Bound::nothing;
  double roof_milliseconds = 0;  ///< of this work at the roof

  /// Floating-point operations and bytes in a second.
  double flop_rate() const { return (work.flops + work.mixed_flops) / (milliseconds / 1000); }
  double byte_rate() const { return work.bytes / (milliseconds / 1000); }
  /// The share of the roof that is reached; above 1 where caches spared the memory. 0 for what is no work.
  double reached() const { return milliseconds > 0 ? roof_milliseconds / milliseconds : 0; }
};

/// What was measured.
struct MeasuredUpdates {
  Profile profile;           ///< of all workers
  int threads = 1;           ///< how many those are
  std::int64_t updates = 1;  ///< how many they did
  double seconds = 0;        ///< by the clock on the wall, of everything
  double data_seconds = 0;   ///< of these, waiting for batches
  Roofline roof;
};

struct StepProfile {
  std::vector<StepRow> rows;  ///< the longest first
  StepRow total;              ///< at the roof: the sum of what the rows would take there
  int threads = 1;
  std::int64_t updates = 1;
  Roofline roof;
};

StepProfile step_profile(const MeasuredUpdates& m);

}  // namespace tril::train
