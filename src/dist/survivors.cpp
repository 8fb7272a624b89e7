#include "dist/survivors.h"

#ifdef TRIL_ULFM
#include <mpi-ext.h>
#endif

#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.h"

namespace tril::dist {

using Clock = std::chrono::steady_clock;

#ifdef TRIL_ULFM

namespace {

// A rank is stopped or unreachable, but not dead.
[[noreturn]] void fail_unanswered() {
  fail("MPI", "a rank was lost, and not all remaining ranks respond",
       "run the same command again: it resumes from the last checkpoint, with any number of ranks");
}

}  // namespace

bool outlives_ranks() {
  const char* const enabled = std::getenv("OMPI_MCA_mpi_ft_enable");  // what `mpirun --with-ft ulfm` sets
  return enabled && (std::string_view(enabled) == "1" || std::string_view(enabled) == "true");
}

bool some_have_died(MPI_Comm comm) {
  MPI_Group dead = MPI_GROUP_NULL;
  int count = 0;
  if (MPIX_Comm_get_failed(comm, &dead) != MPI_SUCCESS) return false;
  MPI_Group_size(dead, &count);
  MPI_Group_free(&dead);
  return count > 0;
}

void revoke(MPI_Comm comm) {
  MPIX_Comm_revoke(comm);
}

void take_back(MPI_Request& request, Clock::time_point latest) {
  for (int done = 0; request != MPI_REQUEST_NULL && !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done && Clock::now() > latest) fail_unanswered();
  }
}

MPI_Comm survivors_of(MPI_Comm comm, Clock::time_point latest) {
  // MPIX_Comm_shrink has no time limit. So a non-blocking call first checks that all survivors are
  // there. It reports the dead rank as an error, which is expected.
  int ignored = 1, all_there = 0;
  MPI_Request question = MPI_REQUEST_NULL;
  MPIX_Comm_iagree(comm, &ignored, &question);
  while (true) {
    MPI_Test(&question, &all_there, MPI_STATUS_IGNORE);
    if (all_there || question == MPI_REQUEST_NULL) break;
    if (Clock::now() > latest) fail_unanswered();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MPI_Comm left = MPI_COMM_NULL;
  if (MPIX_Comm_shrink(comm, &left) != MPI_SUCCESS || left == MPI_COMM_NULL)
    fail("MPI", "a rank was lost, and this MPI library cannot continue without it");
  MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
  return left;
}

void end_job_with_this_process() {
  on_exit(
      [](int code, void*) {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (code != 0 && !finalized) MPI_Abort(MPI_COMM_WORLD, code);
      },
      nullptr);
}

#else

bool outlives_ranks() {
  return false;
}
bool some_have_died(MPI_Comm) {
  return false;
}
void revoke(MPI_Comm) {}
void take_back(MPI_Request&, Clock::time_point) {}
MPI_Comm survivors_of(MPI_Comm, Clock::time_point) {
  return MPI_COMM_NULL;
}
void end_job_with_this_process() {}

#endif

}  // namespace tril::dist
