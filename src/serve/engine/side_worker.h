// A thread for what models do besides decoding (scores, attention, schemas): one job after the other, so that decoding keeps
// its threads' time; few may wait, half of them of one client, and clients take turns.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "decode/batches/parallel.h"

namespace tril::serve {

class SideWorker {
 public:
  explicit SideWorker(std::size_t most_waiting = 64);
  /// What waits is not done any more.
  ~SideWorker();

  /// Whether there was room for it. It must not throw.
  bool push(const std::string& client, std::function<void(search::WorkerPool& worker)> job);
  std::size_t waiting() const;
  std::size_t running() const;
  /// Returns once nothing is left to do.
  void drain();

 private:
  struct Job {
    std::string client;
    std::function<void(search::WorkerPool&)> run;
  };
  void run();
  Job next();

  std::size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Job> jobs_;
  std::string last_client_;  ///< whose turn it was
  bool busy_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace tril::serve
