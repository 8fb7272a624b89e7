// One sentence or prompt that is to be decoded for somebody, while others are.
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

namespace tril::serve {

using Clock = std::chrono::steady_clock;

/// What came of it.
struct Outcome {
  std::vector<search::Hypothesis> hypotheses;  ///< none where there is an error, or where it was ended while it waited
  std::exception_ptr error;
  search::StopReason stop_reason =
      search::StopReason::length;  ///< of the hypotheses, or why it was ended while it waited
  std::int64_t new_tokens = 0;     ///< of all hypotheses
};

struct Work;
using WorkPtr = std::shared_ptr<Work>;

/// The works of a long request that do not wait in the queue yet. When one that was there has ended, the next one comes.
struct Rest {
  std::deque<WorkPtr> works;
  std::size_t in_queue = 0;  ///< works of the request that wait or are decoded
};

struct Work {
  // What is asked for.
  std::vector<std::int32_t> source;  ///< of an encoder-decoder: ids with EOS
  search::Request request;
  std::shared_ptr<const search::SearchPlan> options;

  // For whom.
  std::string client;                                     ///< clients take turns, however much each has waiting
  int priority = 0;                                       ///< higher priorities come first
  Clock::time_point deadline = Clock::time_point::max();  ///< then it is cut

  // What comes of it; called by one of the engine's threads, so they must not wait for anything. May be empty but for
  // the last, which is called once.
  std::function<void(const search::NewToken&)> on_token;
  std::function<void(std::span<const std::int32_t> best_so_far)> on_partial;
  std::function<void(Outcome&&)> on_end;

  /// Set by the client's side, from any thread, when the result is wanted no more.
  std::atomic<bool> cancelled = false;

  /// Hypotheses that are decoded side by side, at most.
  std::int64_t rows() const {
    return options->alternatives ? std::int64_t{options->n_best} * options->beam_size
           : options->has_beam() ? options->beam_size
                                 : options->n_best;
  }
  /// Tokens whose keys and values it may come to keep, at most.
  std::int64_t cache_tokens() const {
    return 1 + static_cast<std::int64_t>(request.prefix.size()) + rows() * request.max_length;
  }
  /// What it takes of a turn: tokens that have to be read and made.
  std::int64_t cost() const { return static_cast<std::int64_t>(source.size()) + cache_tokens(); }

  // Set by the engine.
  Clock::time_point arrived = Clock::now(), begun = {}, first_token = {};
  std::shared_ptr<Rest> rest;  ///< of a request with more works than may wait
};

}  // namespace tril::serve
