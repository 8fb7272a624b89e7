// The rest of a job when one of its ranks has died. Standard MPI then ends the job. User Level Failure Mitigation
// [Bland, Bouteiller, Herault, Bosilca, Dongarra 2013] lets the others go on: calls that need the dead rank fail; the
// rank that notices it revokes the communicator, so that all others' calls fail too; and the survivors agree on a
// smaller communicator. Open MPI 5 has it for jobs of `mpirun --with-ft ulfm`. Without it, nothing here does anything.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>

namespace tril::dist {

/// True if the others may go on when a rank of this job dies.
bool outlives_ranks();

/// True if this process knows of a dead rank. Calls that do not need the dead rank do not report it.
bool some_have_died(MPI_Comm comm);

/// From now on, every call on the communicator fails in all ranks.
void revoke(MPI_Comm comm);

/// Returns when a message of a revoked communicator has ended, successfully or not, and MPI no longer uses its memory.
/// @throws Error if it has not ended by `latest`
void take_back(MPI_Request& request, std::chrono::steady_clock::time_point latest);

/// The communicator of the survivors of a revoked one, in their old order; all of them call it.
/// @throws Error if they are not all there by `latest`
MPI_Comm survivors_of(MPI_Comm comm, std::chrono::steady_clock::time_point latest);

/// A ULFM launcher also goes on without a rank that ends with an error, but the other ranks may have the same error.
/// Call this after MPI is initialised: from then on the job ends when this process ends with a non-zero exit code.
void end_job_with_this_process();

}  // namespace tril::dist
