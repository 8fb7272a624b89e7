// Decodes for many at once with one model: workers of one thread each, which share the model's weights, take from one
// fair queue, and let what they take join what they are at between two steps. How it is served changes nothing in what
// anybody gets.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "decode/batches/continuous_session.h"
#include "serve/engine/fair_queue.h"
#include "serve/engine/statistics.h"

namespace tril::serve {

struct EngineOptions {
  int threads = 1;
  std::int32_t batch_size = 32;   ///< sentences that a worker decodes together
  std::size_t queue_size = 1024;  ///< sentences that may wait
  std::int64_t cache_tokens = 0;  ///< tokens whose keys and values may be kept, all workers together; 0: 2^18
  std::int64_t quantum = 256;     ///< tokens of a client's turn
  search::ContinuousSessionOptions session = {};
  bool deterministic = false;  ///< see search::ParallelOptions
};

class Engine {
 public:
  /// @param statistics  where its numbers go; must outlive it
  Engine(std::shared_ptr<const model::Model> model, const EngineOptions& options, Statistics& statistics);
  /// Among how many workers the cache is shared out.
  static int workers_of(const model::Model& model, const EngineOptions& options);
  /// Ends all that goes on or waits, as cancelled.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  enum class Answer : std::uint8_t { taken, full, closed };
  /// Takes all works of one request, or none of them; then their callbacks are dropped, and nobody's on_end is called.
  ///
  /// Of more works than one client may have in the queue (a long text is a work for each of its sentences) the first ones wait
  /// there, and each of the others comes when one before it has ended. So no text is too long, and no client has more than its
  /// share of the queue. These come also after drain() was called.
  /// @throws Error(usage) as check_works()
  Answer submit(std::span<const WorkPtr> works);
  /// Refuses what would come to nothing, before anything is told of it.
  /// @throws Error(usage) where one of them could never be held, or says what the search refuses
  void check_works(std::span<const WorkPtr> works) const;
  /// Whether a work of this client could wait now; where not and `counts`, it is counted as refused.
  bool has_room(const std::string& client, bool counts = true) const;
  /// These are wanted no more. Those that wait leave at once.
  void cancel(std::span<const WorkPtr> works);
  /// Takes nothing more, and returns once all that was taken has ended.
  void drain();
  /// Takes nothing more, and cancels all that was taken.
  void cancel_all();

  std::size_t waiting() const;
  /// Whether places are taken as far as they ever are, and so many wait that a moment more makes them no later.
  bool crowded() const;
  std::size_t running() const;
  /// Tokens that those who are decoded may come to keep.
  std::int64_t reserved_tokens() const;
  /// Seconds that a request may expect to wait now before it begins, by the time that those before it took.
  double expected_wait() const;
  const model::Model& model() const { return *model_; }
  const EngineOptions& options() const { return options_; }

 private:
  struct Worker;
  Answer push(std::span<const WorkPtr> works);
  void stop();
  void run(Worker& worker);
  void take(Worker& worker, std::unique_lock<std::mutex>& lock, std::vector<WorkPtr>& arrivals,
            std::vector<WorkPtr>& gone);
  void join(Worker& worker, std::vector<WorkPtr> arrivals);
  void watch(Worker& worker);
  void deliver(Worker& worker);
  void end(const WorkPtr& work, Outcome outcome);
  void follow(const WorkPtr& ended);

  std::shared_ptr<const model::Model> model_;
  EngineOptions options_;
  Statistics& statistics_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_, ended_;
  FairQueue queue_;
  std::size_t live_ = 0;  ///< of all workers, as is the next
  std::int64_t reserved_ = 0;
  bool closed_ = false, stopping_ = false;
  std::atomic<bool> cancelling_ = false;
  std::atomic<bool> gone_ = false;    ///< whether somebody who may be waiting was cancelled
  Clock::time_point next_look_ = {};  ///< for those who wait and are late
  double seconds_a_sentence_ = 0;     ///< between two that end, a running mean
  Clock::time_point last_end_ = {};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace tril::serve
