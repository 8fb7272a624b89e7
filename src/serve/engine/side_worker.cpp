#include "serve/engine/side_worker.h"

#include <algorithm>

namespace tril::serve {

SideWorker::SideWorker(const Options& options) : most_waiting_(options.most_waiting) {
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { run(); });
}

SideWorker::~SideWorker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool SideWorker::push(const std::string& client, std::function<void(search::WorkerPool&)> job, Room room) {
  {
    const std::lock_guard lock(mutex_);
    const auto own = std::count_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.client == client; });
    const bool is_full = std::ssize(jobs_) >= most_waiting_ || own >= (most_waiting_ + 1) / 2;
    if (stopping_ || (room == Room::asked && is_full)) return false;
    jobs_.push_back({client, std::move(job)});
  }
  changed_.notify_one();
  return true;
}

std::size_t SideWorker::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

std::size_t SideWorker::running() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void SideWorker::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return stopping_ || (jobs_.empty() && busy_ == 0); });
}

// The first job of another client than the latest one's; if there is none, the first job.
SideWorker::Job SideWorker::next() {
  auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.client != last_client_; });
  if (job == jobs_.end()) job = jobs_.begin();
  Job taken = std::move(*job);
  jobs_.erase(job);
  last_client_ = taken.client;
  return taken;
}

void SideWorker::run() {
  search::WorkerPool worker(1);
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = next();
      ++busy_;
    }
    job.run(worker);
    job = {};  // what it holds goes before it counts as ended
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0 && jobs_.empty()) idle_.notify_all();
  }
}

}  // namespace tril::serve
