// A work: one sentence or prompt of a request, which the engine decodes together with others.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decode/batches/decode.h"
#include "decode/batches/speculative.h"

namespace tril::serve {

using Clock = std::chrono::steady_clock;

inline Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// The result of a work.
struct Outcome {
  std::vector<search::Hypothesis> hypotheses;  ///< none after an error, or if it ended while it was waiting
  std::exception_ptr error;
  /// Of the hypotheses, or why it ended while it was waiting.
  search::StopReason stop_reason = search::StopReason::length;
  std::int64_t new_tokens = 0;  ///< of all hypotheses
  search::ProposalCounts proposals = {};
};

struct Work;
using WorkPtr = std::shared_ptr<Work>;

/// The works of a long request that are not in the queue yet. When one of the request's works has ended, the next follows.
struct Rest {
  std::deque<WorkPtr> works;
  std::size_t in_queue = 0;  ///< works of the request that are waiting or running
};

struct Work {
  // The task.
  std::vector<std::int32_t> source;  ///< for an encoder-decoder: ids with EOS
  search::Request request;
  std::shared_ptr<const search::SearchPlan> options;

  // Its place in the queue.
  std::string client;                                     ///< clients take turns (fair_queue.h)
  int priority = 0;                                       ///< higher priorities come first
  Clock::time_point deadline = Clock::time_point::max();  ///< decoding ends then

  // Callbacks in one of the engine's threads, which must not block. on_end is required and called once.
  std::function<void(const search::NewToken&)> on_token;
  std::function<void(std::span<const std::int32_t> best_so_far)> on_partial;
  std::function<void(Outcome&&)> on_end;

  /// Set from any thread when the client no longer needs the result.
  std::atomic<bool> cancelled = false;

  /// The maximum number of rows: hypotheses that are decoded together.
  std::int64_t rows() const {
    return options->alternatives ? std::int64_t{options->n_best} * options->beam_size
           : options->has_beam() ? options->beam_size
                                 : options->n_best;
  }
  /// The maximum number of tokens in the KV cache.
  std::int64_t cache_tokens() const { return 1 + std::ssize(request.prefix) + rows() * request.max_length; }
  /// Its cost to its client's balance in tokens (fair_queue.h): those to read and those to generate.
  std::int64_t cost() const { return std::ssize(source) + cache_tokens(); }

  // Set by the engine.
  Clock::time_point arrived = Clock::now(), begun = {}, first_token = {};
  std::shared_ptr<Rest> rest;  ///< of a request with more works than the queue may hold; else null
};

}  // namespace tril::serve
