// How many processes were started together by mpirun, srun or a like, and which of them this one is. They say so in the
// environment, so that nothing of MPI itself is needed.
#pragma once

#include <cstdint>
#include <string>

namespace tril::dist {

struct Launch {
  std::int64_t rank = 0, size = 1;
  std::string job;  ///< tells one start from the next, where the launcher says; else ""
};

Launch launch_of_environment();

/// This machine's name.
std::string host_name();
/// What this process calls itself among those of its launch, before it has joined them or after: "rank 3 (node17)".
std::string name_of(const Launch& launch);

}  // namespace tril::dist
