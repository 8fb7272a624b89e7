// What is left of a job when one of its ranks has died. MPI's standard ends the job then; User Level Failure Mitigation
// [Bland, Bouteiller, Herault, Bosilca, Dongarra 2013] lets the others go on: calls fail that need the dead rank, whoever
// notices revokes the communicator, so that all others' fail too, and those who are left agree on a smaller one. Open MPI
// 5 has it, for jobs of `mpirun --with-ft ulfm`; where the library has not, nothing here does anything.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>

namespace tril::dist {

/// Whether the others may go on when a rank of this job dies.
bool outlives_ranks();

/// Whether this process knows of one that has died. Calls that do not need the dead one say nothing of it.
bool some_have_died(MPI_Comm comm);

/// From here on every call on the communicator fails, in all ranks.
void revoke(MPI_Comm comm);

/// Returns when a message of a revoked communicator is done, well or not, and its memory untouched from there on.
/// @throws Error where it is not by then
void take_back(MPI_Request& request, std::chrono::steady_clock::time_point latest);

/// The communicator of those who are left of a revoked one, in their old order; all of them call it.
/// @throws Error where they are not all there by then
MPI_Comm survivors_of(MPI_Comm comm, std::chrono::steady_clock::time_point latest);

/// Such a launcher also goes on without a rank that ends with an error, and what is wrong with that one may be wrong with
/// the others. To be called once MPI is initialised: from here on the job ends when this process ends with another exit
/// code than 0.
void end_job_with_this_process();

}  // namespace tril::dist
