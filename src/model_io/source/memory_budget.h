// A bound on the memory that several threads use at the same time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace tril::model {

class MemoryBudget {
 public:
  /// @param most  bytes in use at the same time; more only if a single use needs more
  explicit MemoryBudget(std::size_t most) : most_(most) {}

  /// Some bytes in use, until destroyed. The constructor waits until they are free; it does not wait for 0 bytes.
  class Use {
   public:
    Use(MemoryBudget& budget, std::size_t bytes) : budget_(&budget), bytes_(bytes) {
      std::unique_lock lock(budget.mutex_);
      budget.freed_.wait(lock, [&] { return bytes == 0 || budget.used_ == 0 || budget.used_ + bytes <= budget.most_; });
      budget.used_ += bytes;
    }
    ~Use() {
      {
        const std::scoped_lock lock(budget_->mutex_);
        budget_->used_ -= bytes_;
      }
      budget_->freed_.notify_all();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    MemoryBudget* budget_;
    std::size_t bytes_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t most_, used_ = 0;
};

}  // namespace tril::model
