// A thread for what models do besides decoding (scores, attention): one job after the other, so that decoding keeps its
// threads' time; few may wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "search/parallel.h"

namespace tril::serve {

class SideWorker {
 public:
  explicit SideWorker(std::size_t most_waiting = 64);
  /// What waits is not done any more.
  ~SideWorker();

  /// Whether there was room for it. It must not throw.
  bool push(std::function<void(search::WorkerPool& worker)> job);

 private:
  void run();

  std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(search::WorkerPool&)>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tril::serve
