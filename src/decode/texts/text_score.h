// Scores texts with a language model: log p(text) = sum over its tokens of log p(token | earlier tokens). Longer texts are read
// in windows of `context` tokens that begin `stride` tokens apart. Each token is scored once, in the first window that reaches
// it. After the first window, every scored token has at least context - stride + 1 tokens before it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "decode/batches/score.h"

namespace tril::search {

struct WindowOptions {
  std::int64_t context = 0;     ///< tokens per window; 0: the model's positions, or 1024 if they are unlimited
  std::int64_t stride = 0;      ///< from 1 to context; 0: half of it
  std::int64_t batch_size = 8;  ///< windows in a worker's batch
};

/// The options with all defaults filled in. @throws Error(usage) if they do not fit the model
WindowOptions settled(WindowOptions options, const model::Model& model);

/// The scores of each text, in order. The first token is not scored, so a text of n tokens has n - 1 token scores. To score the
/// first token too, put a begin token before it.
/// @param on_scored  receives the number of newly scored tokens, from one worker at a time; may be empty
std::vector<Score> score_texts(WorkerPool& workers, const model::Model& model,
                               std::span<const std::vector<std::int32_t>> texts, const WindowOptions& options,
                               const std::function<void(std::int64_t tokens)>& on_scored = {});

}  // namespace tril::search
