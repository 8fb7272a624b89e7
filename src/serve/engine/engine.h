// Decodes the requests of many clients with one model. Its workers, of one thread each, share the model's weights. Between
// two steps, each takes works from one fair queue and adds them to its running batch. The results do not depend on which
// works are decoded together.
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

/// The size of the KV cache if EngineOptions::cache_tokens is 0.
inline constexpr std::int64_t default_cache_tokens = std::int64_t{1} << 18;

struct EngineOptions {
  int threads = 1;
  Placement placement = {};       ///< of workers, or of the only worker's team
  std::int32_t batch_size = 32;   ///< maximum number of works that a worker decodes together
  std::size_t queue_size = 1024;  ///< maximum number of waiting works
  std::int64_t cache_tokens = 0;  ///< size of the KV caches of all workers in tokens; 0: default_cache_tokens
  std::int64_t quantum = 256;     ///< tokens of a client's turn (fair_queue.h)
  search::ContinuousSessionOptions session = {};
  bool deterministic = false;  ///< see search::ParallelOptions
};

/// The kernels with which it decodes.
const kern::Kernels& kernels_of(const EngineOptions& options);

class Engine {
 public:
  /// @param statistics  receives its counts; must outlive it
  /// @throws Error if threads cannot be started
  Engine(std::shared_ptr<const model::Model> model, const EngineOptions& options, Statistics& statistics);
  /// The number of workers, among which the cache is divided.
  static int workers_of(const model::Model& model, const EngineOptions& options);
  /// Cancels all running and waiting works.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  enum class Answer : std::uint8_t { taken, full, closed };
  /// Takes all works of one request, or none of them. In the latter case their callbacks are destroyed without a call.
  ///
  /// A long text is one work for each of its sentences, possibly more than one client may have in the queue. Then the first
  /// ones wait in the queue, and each of the others follows when an earlier one has ended, also after drain(). So no text is
  /// too long, and no client has more than its share of the queue.
  /// With Admission::given, the queue takes them even if it is full.
  /// @throws Error(usage) like check_works()
  Answer submit(std::span<const WorkPtr> works, Admission admission = Admission::asked);
  /// Checks works before they are submitted.
  /// @throws Error(usage) if the cache can never hold one of them, or its options are invalid
  void check_works(std::span<const WorkPtr> works) const;
  /// True if the queue has room for a work of this client. If it has none and `counts` is set, a refusal is counted.
  bool has_room(const std::string& client, bool counts = true) const;
  /// Cancels these works. Waiting ones leave the queue at once.
  void cancel(std::span<const WorkPtr> works);
  /// Takes no more works, and returns once all works have ended.
  void drain();
  /// Takes no more works, and cancels all works.
  void cancel_all();

  std::size_t waiting() const;
  /// True if nearly all places are taken and so many works wait that a short delay of new requests costs nothing.
  bool crowded() const;
  std::size_t running() const;
  /// Cache tokens that are reserved for running works.
  std::int64_t reserved_tokens() const;
  /// The expected waiting time of a new request in seconds, by the recent rate at which works end.
  double expected_wait() const;
  const model::Model& model() const { return *model_; }
  const EngineOptions& options() const { return options_; }

 private:
  struct Worker;
  Answer push(std::span<const WorkPtr> works, Admission admission);
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
  std::size_t live_ = 0;       ///< running works of all workers
  std::size_t leaving_ = 0;    ///< works that left the queue without having run, and whose end is not reported yet
  std::int64_t reserved_ = 0;  ///< their reserved tokens
  bool closed_ = false, stopping_ = false;
  std::atomic<bool> cancelling_ = false;
  std::atomic<bool> gone_ = false;    ///< a work that may be waiting was cancelled
  Clock::time_point next_look_ = {};  ///< when to search the queue for passed deadlines again
  double seconds_a_sentence_ = 0;     ///< running mean of the time between the ends of two works
  Clock::time_point last_end_ = {};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace tril::serve
