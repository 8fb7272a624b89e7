// How many processes mpirun, srun or a similar launcher started together, and which of them this one is. Launchers
// say so in the environment, so MPI itself is not needed.
#pragma once

#include <cstdint>
#include <string>

namespace tril::dist {

struct Launch {
  std::int64_t rank = 0, size = 1;
  std::string job;  ///< differs between launches, if the launcher says so; else ""
};

Launch launch_of_environment();

/// This machine's name.
std::string host_name();
/// The name of this process within its launch, before or after it has joined the others: "rank 3 (node17)".
std::string name_of(const Launch& launch);

}  // namespace tril::dist
