// How probable a language model finds given texts: log p(text) = sum over its tokens of log p(token | those before it).
// A text of more tokens than the model reads at once is read in windows of `context` tokens that begin `stride` apart.
// Each token is scored once, in the first window that reaches it: after the first window every token has at least
// context - stride + 1 tokens in front of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "decode/batches/score.h"

namespace tril::search {

struct WindowOptions {
  std::int64_t context =
      0;                    ///< tokens that the model reads at once; 0: its positions, or 1024 where they are unbounded
  std::int64_t stride = 0;  ///< from 1 to context; 0: half of it
  std::int64_t batch_size = 8;  ///< windows that a worker reads together
};

/// The options with nothing left at 0. @throws Error(usage) where they do not fit the model
WindowOptions settled(WindowOptions options, const model::Model& model);

/// The scores of all tokens but the first of each text, in the texts' order: a text of n tokens has n - 1 (none of 0).
/// Give a begin token in front where the first token is to be scored too.
/// @param on_scored  told how many tokens more are scored, by one worker at a time; may be empty
std::vector<Score> score_texts(WorkerPool& workers, const model::Model& model,
                               std::span<const std::vector<std::int32_t>> texts, const WindowOptions& options,
                               const std::function<void(std::int64_t tokens)>& on_scored = {});

}  // namespace tril::search
