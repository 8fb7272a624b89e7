// The profile of a training step: each op's share of the time, and the time that its work would take at the
// machine's peak rates. The rows' milliseconds add up to those of an update.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/roofline.h"
#include "tensor/profile.h"

namespace tril::train {

/// Figures of one update, all threads together. Times are wall-clock times: the mean over the threads.
struct StepRow {
  std::string name;  ///< "linear: weight gradient"
  double calls = 0, milliseconds = 0;
  double share = 0;  ///< of the update's time
  Work work;
  Roofline::Bound bound = Roofline::Bound::nothing;
  double roof_milliseconds = 0;  ///< of this work at peak rates

  /// Floating-point operations per second and bytes per second.
  double flop_rate() const { return (work.flops + work.mixed_flops) / (milliseconds / 1000); }
  double byte_rate() const { return work.bytes / (milliseconds / 1000); }
  /// The fraction of the peak rate that is reached; above 1 if caches saved memory traffic. 0 for rows without work.
  double reached() const { return milliseconds > 0 ? roof_milliseconds / milliseconds : 0; }
};

/// The measurements.
struct MeasuredUpdates {
  Profile profile;           ///< of all workers
  int threads = 1;           ///< number of workers
  std::int64_t updates = 1;  ///< number of updates
  double seconds = 0;        ///< wall-clock time of everything
  double data_seconds = 0;   ///< of this, time waiting for batches
  Roofline roof;
};

struct StepProfile {
  std::vector<StepRow> rows;  ///< the longest first
  StepRow total;              ///< roof_milliseconds: the sum over the rows
  int threads = 1;
  std::int64_t updates = 1;
  Roofline roof;
};

StepProfile step_profile(const MeasuredUpdates& m);

}  // namespace tril::train
