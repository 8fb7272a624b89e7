// Validation: the loss on sentence pairs that are not trained on and, where asked for, BLEU and chrF of their
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

/// A validation set: as batches for the loss, and as text for what is measured on translations.
struct ValidationSet {
  std::vector<Batch> batches;
  std::vector<std::string> sources, references;
  CorpusStatistics statistics;  ///< of the batches: which pairs they are without; of pairs alone
  bool empty() const { return batches.empty(); }
};

/// Reads the set that the options name; empty where they name none. Texts are read only where a metric needs them.
ValidationSet read_validation_set(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer);

/// What the measures are without, for people: how many pairs, why, and where the first one stands. A line for each
/// reason; none where every pair counts in full.
std::vector<std::string> remarks(const ValidationSet& set, const TrainOptions& options);

/// Sources -> translations, in their order, with the weights that the model has at that moment.
using Translate = std::function<std::vector<std::string>(std::span<const std::string>)>;

struct ValidationScores {
  double cross_entropy = 0, perplexity = 0;  ///< for each target token, without label smoothing
  std::optional<double> bleu, chrf;          ///< 0 to 100, where measured
};

/// @param stop  see Workers::evaluate(); `translate` is called in any case, as other ranks wait for it
ValidationScores validate(const ValidationSet& set, std::span<const Metric> metrics, Workers& workers,
                          const Translate& translate, const std::function<bool()>& stop = {});

double score_of(const ValidationScores& scores, Metric metric);
/// Whether `now` beats `best` under the metric: losses fall, BLEU and chrF rise. NaN beats nothing.
bool better(Metric metric, double now, const std::optional<double>& best);
std::string_view name_of(Metric metric);

}  // namespace tril::train
