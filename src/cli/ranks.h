// How many processes were started together by mpirun, srun or a like, and which of them this one is. They say so in the
// environment, so that nothing of MPI itself is needed.
#pragma once

#include <cstdint>
#include <string>

namespace tril::cli {

struct Ranks {
  std::int64_t rank = 0, size = 1;
  std::string job;  ///< tells one start from the next, where the launcher says; else ""
};

Ranks ranks_of_environment();

}  // namespace tril::cli
