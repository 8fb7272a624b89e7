// Threads for work besides decoding: scores, attention, schemas. One thread, unless more are asked for, runs one job at a time, so that
// decoding keeps its cores.
// The number of waiting jobs is limited, one client may have half of them, and clients take turns.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "decode/batches/parallel.h"

namespace tril::serve {

class SideWorker {
 public:
  struct Options {
    std::int64_t most_waiting = 64;
    int threads = 1;
  };
  SideWorker() : SideWorker(Options{}) {}
  explicit SideWorker(const Options& options);
  /// Drops waiting jobs.
  ~SideWorker();

  /// Whether a job needs room among those that wait.
  enum class Room : std::uint8_t {
    asked,
    given,  ///< its request was admitted elsewhere, and must not be lost now
  };
  /// Adds a job, which must not throw. @return false if there is no room for it
  bool push(const std::string& client, std::function<void(search::WorkerPool& worker)> job, Room room = Room::asked);
  std::size_t waiting() const;
  std::size_t running() const;
  /// Returns once all jobs have ended.
  void drain();

 private:
  struct Job {
    std::string client;
    std::function<void(search::WorkerPool&)> run;
  };
  void run();
  Job next();

  std::int64_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Job> jobs_;
  std::string last_client_;  ///< the client of the latest job
  std::size_t busy_ = 0;     ///< threads that run a job
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tril::serve
