// Runs the real program as several processes under mpirun, with access to each of them.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/run_program.h"

namespace tril {

inline bool have_mpirun() {
  return !test::mpirun().empty() && access(test::mpirun().c_str(), X_OK) == 0;
}

/// Polls until `there` is true. False after a timeout.
inline bool wait_until(const std::function<bool()>& there,
                       std::chrono::milliseconds longest = std::chrono::minutes(1)) {
  const auto start = std::chrono::steady_clock::now();
  while (!there()) {
    if (std::chrono::steady_clock::now() - start > longest) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// A job of `ranks` processes.
class RankJob {
 public:
  /// @param folder  a place for the job's files
  /// @param first_do  shell commands that each rank runs before the program; $RANK is its number
  RankJob(const ScratchFolder& folder, int ranks, std::string first_do = "")
      : ranks_(ranks), pid_files_(folder.at("pid-of-rank-")), first_do_(std::move(first_do)) {}

  /// Adds options for mpirun.
  RankJob& with(std::vector<std::string> options) {
    options_ = std::move(options);
    return *this;
  }

  /// Runs the program until all processes have ended; calls `meanwhile` with the job.
  Ran run(const std::vector<std::string>& args, const std::function<void(RankJob&)>& meanwhile = {}) {
    for (int r = 0; r < ranks_; ++r) std::filesystem::remove(pid_files_ + std::to_string(r));
    // Allows root and more processes than cores, and uses neither binding nor network.
    std::vector<std::string> words{"/usr/bin/env",
                                   "OMPI_ALLOW_RUN_AS_ROOT=1",
                                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                   "OMPI_MCA_rmaps_base_oversubscribe=1",
                                   "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
                                   "OMPI_MCA_hwloc_base_binding_policy=none",
                                   "PRTE_MCA_hwloc_default_binding_policy=none",
                                   "OMPI_MCA_pml=ob1",
                                   "OMPI_MCA_btl=self,vader",
                                   "OMPI_MCA_btl_vader_single_copy_mechanism=none",
                                   test::mpirun(),
                                   "-n",
                                   std::to_string(ranks_)};
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), {"/bin/sh", "-c",
                               "RANK=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n"
                               "echo $$ > '" +
                                   pid_files_ + "'$RANK\n" + first_do_ + "\nexec \"$0\" \"$@\"",
                               test::tril_program()});
    words.insert(words.end(), args.begin(), args.end());
    return run_words(std::move(words), {.input = {}, .stdout_to = {}, .before = {}, .meanwhile = [&](pid_t mpirun) {
                                          mpirun_ = mpirun;
                                          if (meanwhile) meanwhile(*this);
                                        }});
  }

  int ranks() const { return ranks_; }
  /// The process of a rank; 0 if it has not started in time.
  pid_t pid(int rank) const {
    pid_t pid = 0;
    wait_until([&] {
      const std::string text = file_text(pid_files_ + std::to_string(rank));
      if (!text.empty() && text.back() == '\n') pid = std::atoi(text.c_str());
      return pid > 0 || ended();
    });
    return pid;
  }
  void send(int rank, int signal) const {
    if (const pid_t p = pid(rank); p > 0) kill(p, signal);
  }
  /// Whether all other ranks have ended.
  bool is_last(int rank) const {
    for (int r = 0; r < ranks_; ++r) {
      const pid_t p = pid(r);
      if (r != rank && p > 0 && kill(p, 0) == 0) return false;
    }
    return true;
  }
  /// Sends a signal to mpirun itself.
  void send_launcher(int signal) const { kill(mpirun_, signal); }
  /// From now on the rank cannot write beyond this size in any file, as if its disk were full.
  void fill_disk(int rank, rlim_t bytes) const {
    const rlimit limit{bytes, RLIM_INFINITY};
    if (const pid_t p = pid(rank); p > 0) prlimit(p, RLIMIT_FSIZE, &limit, nullptr);
  }
  /// Whether the job has ended.
  bool ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(mpirun_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == mpirun_;
  }
  /// Waits for the end. False after a timeout, when the job is killed.
  bool ends_within(std::chrono::milliseconds longest) const {
    if (wait_until([&] { return ended(); }, longest)) return true;
    for (int r = 0; r < ranks_; ++r) send(r, SIGKILL);
    kill(mpirun_, SIGKILL);
    return false;
  }

 private:
  int ranks_;
  std::string pid_files_, first_do_;
  std::vector<std::string> options_;
  pid_t mpirun_ = 0;
};

}  // namespace tril
