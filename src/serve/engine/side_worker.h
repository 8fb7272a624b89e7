// A thread for work besides decoding: scores, attention, schemas. It runs one job at a time, so that decoding keeps its cores.
// The number of waiting jobs is limited, one client may have half of them, and clients take turns.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "decode/batches/parallel.h"

namespace tril::serve {

class SideWorker {
 public:
  explicit SideWorker(std::int64_t most_waiting = 64);
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
  bool busy_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace tril::serve
