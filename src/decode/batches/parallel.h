// Work of many sentences dealt out to workers of one thread each, which share the model's weights and nothing else: at
// the sizes of translation models two workers of one thread do far more than one of two. Only a single sentence, and
// only of a large model, gets all threads inside its matrix products.
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

/// How many bytes of addresses each of so many arenas may reserve (Arena); 0: as many as usual. An arena reserves twice the
/// machine's memory, so that thousands of them would leave no addresses for anything else: many share half of what a process has.
std::size_t addresses_each(int arenas);

/// Those that share the work inside the ops of a single sentence, or null where the model is too small for that.
std::unique_ptr<Team> team_of_one(const model::Model& model, int threads);

/// Numbers 0 to lengths.size() - 1, longest first (of equals the lower first), cut into jobs of at most `job_size`.
std::vector<std::vector<std::size_t>> jobs_by_length(std::span<const std::size_t> lengths, std::size_t job_size);

/// Workers of one thread each, with an arena and a context of their own that stay from run to run.
class WorkerPool {
 public:
  explicit WorkerPool(int threads, const kern::Kernels& kernels = kern::best());
  ~WorkerPool();
  int count() const { return static_cast<int>(list_.size()); }

  /// Does jobs 0 to `jobs` - 1, each once, in order of number as workers get free. The first Error ends the rest and is
  /// thrown here, as is one where the system gives no more threads.
  void run(std::size_t jobs, const std::function<void(Context& c, int worker, std::size_t job)>& work);
  Context& context(int worker);

 private:
  struct Worker;
  std::vector<std::unique_ptr<Worker>> list_;
};

struct ParallelOptions {
  SearchPlan search;
  std::int32_t batch_size = 32;  ///< sentences that one worker decodes together
  std::int32_t refill = 4;  ///< batches a job, where there is work enough: as sentences end, others take their places
  int threads = 1;
  SessionOptions session;  ///< of each worker
  /// Every sentence comes out the same to the last bit whatever shares its batch, whatever the workers: products are
  /// cut into blocks of one size (kern/batch_invariant.h), and a single sentence has one thread.
  bool deterministic = false;
};

/// Decodes any number of sources by a WorkerPool.
class ParallelDecoder {
 public:
  ParallelDecoder(const model::Model& model, ParallelOptions options);

  /// The hypotheses of each request, in the requests' order.
  /// @param sources  an encoder-decoder: ids of what each request translates, EOS included; else none
  /// @param watch  see decode(); its callbacks are called by all workers at once
  std::vector<std::vector<Hypothesis>> decode(std::span<const std::vector<std::int32_t>> sources,
                                              std::span<const Request> requests, const Watch& watch = {});

  /// Wall time of each job of the last decode(), in seconds.
  const std::vector<double>& job_seconds() const { return job_seconds_; }
  /// Of all decode() calls so far, all workers together.
  Speculation speculation() const;

 private:
  ParallelOptions options_;
  bool shares_;  ///< whether threads work inside the ops where there is but one job
  WorkerPool workers_;
  std::unique_ptr<Team> team_;  ///< begun when it is first wanted
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<double> job_seconds_;
};

}  // namespace tril::search
