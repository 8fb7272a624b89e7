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

/// Translations to be scored, one target for each source.
struct SentencePairs {
  std::span<const std::vector<std::int32_t>> sources;  ///< ids with EOS; none may be empty
  std::span<const std::vector<std::int32_t>> targets;  ///< ids, with EOS if it is scored too
};

struct Score {
  std::vector<float> token_log_probs;  ///< of each token of the target
  double log_prob = 0;                 ///< their sum
  std::vector<float> attention;        ///< [tokens, source tokens], where it is asked for
};

/// The scores of a few pairs in one batch.
std::vector<Score> score(Context& c, const model::Model& model, const SentencePairs& pairs,
                         const ScoreOptions& options = {});

/// The scores of any number of pairs, in their order. Each worker takes `batch_size` pairs at a time.
std::vector<Score> score_all(WorkerPool& workers, const model::Model& model, const SentencePairs& pairs,
                             std::int64_t batch_size, const ScoreOptions& options = {});

}  // namespace tril::search
