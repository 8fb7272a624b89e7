// Scores translations by teacher forcing: log p(target | source) = sum over the target's tokens of log p(token | source, earlier
// tokens).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/batches/parallel.h"

namespace tril::search {

struct ScoreOptions {
  EnsembleOptions ensemble = {};
  std::optional<nn::AttentionHeads> attention = {};  ///< heads of the first model; nullopt: attention is not returned
  std::int32_t start_id = -1;                        ///< the decoder's start token; -1: the model's own
};

/// Translations to be scored, one target for each source.
struct SentencePairs {
  /// Ids with EOS; for a model without an encoder: the prompt. None may be empty.
  std::span<const std::vector<std::int32_t>> sources;
  std::span<const std::vector<std::int32_t>> targets;  ///< ids, with EOS if it is scored too
};

struct Score {
  std::vector<float> token_log_probs;  ///< by token of the target
  double log_prob = 0;                 ///< their sum
  std::vector<float> attention;        ///< [tokens, source tokens], with ScoreOptions::attention
};

/// The scores of a few pairs in one batch.
std::vector<Score> score(Context& c, const model::Model& model, const SentencePairs& pairs,
                         const ScoreOptions& options = {});

/// The scores of any number of pairs, in their order. Each worker takes `batch_size` pairs at a time.
std::vector<Score> score_all(WorkerPool& workers, const model::Model& model, const SentencePairs& pairs,
                             std::int64_t batch_size, const ScoreOptions& options = {});

}  // namespace tril::search
