#include "serve/side_worker.h"

namespace tril::serve {

SideWorker::SideWorker(std::size_t most_waiting) : most_waiting_(most_waiting), thread_([this] { run(); }) {}

SideWorker::~SideWorker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool SideWorker::push(std::function<void(search::WorkerPool&)> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || jobs_.size() >= most_waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void SideWorker::run() {
  search::WorkerPool worker(1);
  for (;;) {
    std::function<void(search::WorkerPool&)> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job(worker);
  }
}

}  // namespace tril::serve
