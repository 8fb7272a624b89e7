#include "dist/launch.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace tril::dist {
namespace {

std::string text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text ? text : "";
}

std::optional<std::int64_t> number_of(const char* name) {
  const std::string text = text_of(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

struct Launcher {
  const char *rank, *size, *job;
};

// Open MPI's mpirun may itself have been started by srun, once on each machine, so it is checked first. A script of
// sbatch has SLURM_PROCID and SLURM_NTASKS too but is one process; only a step has SLURM_STEP_NUM_TASKS.
constexpr std::array<Launcher, 3> launchers = {{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
}};

}  // namespace

Launch launch_of_environment() {
  for (const Launcher& launcher : launchers) {
    const std::optional<std::int64_t> rank = number_of(launcher.rank), size = number_of(launcher.size);
    if (!rank || !size || *rank >= *size) continue;
    Launch launch{.rank = *rank, .size = *size, .job = text_of("SLURM_JOB_ID") + "-" + text_of(launcher.job)};
    for (char& c : launch.job)  // it becomes part of a file name
      if (std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-").find(c) ==
          std::string_view::npos)
        c = '_';
    if (launch.job.size() > 100) launch.job.resize(100);
    return launch;
  }
  return {};
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

std::string name_of(const Launch& launch) {
  return "rank " + std::to_string(launch.rank) + " (" + host_name() + ")";
}

}  // namespace tril::dist
