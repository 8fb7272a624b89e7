// Validation: the loss on held-out sentence pairs and, if requested, BLEU and chrF of their
// translations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/corpus.h"
#include "tokenizer/files/tokenizer.h"
#include "train/distributed/workers.h"
#include "train/loop/options.h"

namespace tril::train {

/// A validation set: as batches for the loss, and as text for metrics of translations.
struct ValidationSet {
  std::vector<Batch> batches;
  std::vector<std::string> sources, references;
  CorpusStatistics statistics;  ///< of the batches: which pairs they lack; only set for pairs
  bool empty() const { return batches.empty(); }
};

/// Reads the validation set of the options; empty if there is none. Texts are read only if a metric needs them.
ValidationSet read_validation_set(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer);

/// What the scores leave out, for the user: how many pairs, why, and the first one's place. One line for each reason;
/// none if every pair counts fully.
std::vector<std::string> remarks(const ValidationSet& set, const TrainOptions& options);

/// Translates the sources, in order, with the model's current weights.
using Translate = std::function<std::vector<std::string>(std::span<const std::string>)>;

struct ValidationScores {
  double cross_entropy = 0, perplexity = 0;  ///< per target token, without label smoothing
  std::optional<double> bleu, chrf;          ///< 0 to 100, if measured
};

/// @param stop  see Workers::evaluate(); `translate` is called even after a stop, as other ranks wait for it
ValidationScores validate(const ValidationSet& set, std::span<const Metric> metrics, Workers& workers,
                          const Translate& translate, const std::function<bool()>& stop = {});

double score_of(const ValidationScores& scores, Metric metric);
/// Whether `now` beats `best` under the metric: lower losses, higher BLEU and chrF are better. NaN beats nothing.
bool better(Metric metric, double now, const std::optional<double>& best);
std::string_view name_of(Metric metric);

}  // namespace tril::train
