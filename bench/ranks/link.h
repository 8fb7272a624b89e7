// Measures the link between two ranks, for the cost model.
#pragma once

#include "ranks/cost_model.h"

namespace tril::bench {

struct MeasuredLink {
  Link link;
  double small = 0;  ///< bytes per second of messages of 64 KiB, many at a time, both ways at once
};

/// Measures between ranks 0 and 1 of a job that MPI has started; all others idle. The figures are rank 0's.
MeasuredLink measure_link();
/// True if this rank should print.
bool start_mpi();
void end_mpi();

}  // namespace tril::bench
