// How probable a model finds given targets: log p(target | source) = sum over tokens, EOS included, by teacher forcing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/parallel.h"

namespace tril::search {

struct ScoreOptions {
  EnsembleOptions ensemble = {};
  std::optional<nn::AttentionHeads> attention = {};  ///< of the first model; nothing: not asked for
  std::int32_t start_id = -1;                        ///< what the decoder starts with; -1: as the model says
};

struct Score {
  std::vector<float> token_log_probs;  ///< of each token of the target
  double log_prob = 0;                 ///< their sum
  std::vector<float> attention;        ///< [tokens, source tokens], where it is asked for
};

/// @param sources   ids, EOS included; none may be empty
/// @param targets   ids, EOS included where it is to count; as many as sources
/// @param start_id  what the decoder sees before each target
/// @param ensemble  models that decide together with `model`
std::vector<Score> score(Context& c, const model::Model& model, std::span<const std::vector<std::int32_t>> sources,
                         std::span<const std::vector<std::int32_t>> targets, std::int32_t start_id,
                         const ScoreOptions& options = {});

/// The same for any number of pairs, `batch_size` at a time on each worker, in the pairs' order.
std::vector<Score> score_all(WorkerPool& workers, const model::Model& model,
                             std::span<const std::vector<std::int32_t>> sources,
                             std::span<const std::vector<std::int32_t>> targets, std::int64_t batch_size,
                             const ScoreOptions& options = {});

}  // namespace tril::search
