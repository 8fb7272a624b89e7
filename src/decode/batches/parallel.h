// Distributes many sentences to workers of one thread each, which share only the model's weights. At the sizes of translation
// models, two workers of one thread are much faster than one worker of two threads. All threads work inside the matrix products
// only for a single job of a large model.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "decode/batches/session.h"

namespace tril::search {

/// The number of bytes of address space that each of this many arenas should reserve (Arena); 0: the default. By default an arena
/// reserves twice the machine's memory, so thousands of them would exhaust the address space. Many arenas share half of it.
std::size_t addresses_each(int arenas);

/// A team of threads for the ops of a single sentence; null: the model is too small for it.
std::unique_ptr<Team> team_of_one(const model::Model& model, int threads, const Placement& placement = {});

/// The indices of `lengths`, longest first (equal lengths in order), in jobs of at most `job_size`.
std::vector<std::vector<std::size_t>> jobs_by_length(std::span<const std::size_t> lengths, std::size_t job_size);

/// Workers of one thread each. Each has its own arena and context, which are reused in every run.
class WorkerPool {
 public:
  explicit WorkerPool(int threads, const kern::Kernels& kernels = kern::best(), Placement placement = {});
  ~WorkerPool();
  int count() const { return static_cast<int>(list_.size()); }

  /// Runs jobs 0 to `jobs` - 1. Free workers take them in order.
  /// @throws the first exception of a job, after which no more jobs are started; Error if a thread cannot be started
  void run(std::size_t jobs, const std::function<void(Context& c, int worker, std::size_t job)>& work);
  Context& context(int worker);

 private:
  struct Worker;
  std::vector<std::unique_ptr<Worker>> list_;
  Placement placement_;  ///< of workers, by number
};

struct ParallelOptions {
  SearchPlan search;
  std::int32_t batch_size = 32;  ///< sentences in the batch of one worker
  std::int32_t refill =
      4;  ///< the maximum number of batches per job; sentences that end are replaced by others of the job
  int threads = 1;
  Placement placement;     ///< of workers, or of the team's members
  SessionOptions session;  ///< of each worker
  /// Results are bit-identical for every batch and any number of workers: products use blocks of one size
  /// (kern/batch_invariant.h), and a single sentence uses one thread.
  bool deterministic = false;
};

/// Decodes any number of requests with a WorkerPool and a Session for each worker.
class ParallelDecoder {
 public:
  ParallelDecoder(const model::Model& model, ParallelOptions options);

  /// The hypotheses of each request, in the requests' order.
  /// @param sources  ids with EOS, one for each request; a model without an encoder: none
  /// @param watch    see decode(); all workers call its callbacks concurrently
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const Watch& watch = {});

  /// Wall time of each job of the last decode(), in seconds.
  const std::vector<double>& job_seconds() const { return job_seconds_; }
  /// Counts over all calls of decode() and all workers.
  Speculation speculation() const;

 private:
  ParallelOptions options_;
  bool shares_;  ///< true: all threads work inside the ops if there is only one job
  WorkerPool workers_;
  std::unique_ptr<Team> team_;  ///< created when first needed
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<double> job_seconds_;
};

}  // namespace tril::search
