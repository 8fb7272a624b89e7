#include "train/loop/validation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/progress.h"
#include "corpus/corpus.h"
#include "corpus/pair_reader.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "train/loop/data.h"

namespace tril::train {
namespace {

bool needs_text(Metric m) {
  return m == Metric::bleu || m == Metric::chrf;
}

}  // namespace

ValidationSet read_validation_set(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer) {
  ValidationSet set;
  const DataOptions& d = options.data;
  if (d.valid_sets.empty()) return set;
  try {
    set.batches = validation_batches(options, tokenizer, &set.statistics);
  } catch (const Error& problem) {
    throw problem.within("valid_sets");
  }
  check(!set.batches.empty(), "valid_sets", "no pair of {} can be used", d.valid_sets[0]);

  const std::vector<Metric>& metrics = options.validation.valid_metrics;
  if (std::none_of(metrics.begin(), metrics.end(), needs_text)) return set;
  const CorpusOptions corpus = validation_corpus(options);
  PairReader reader(corpus);
  for (PairText pair; reader.next(pair);) {
    if (!pair.valid) continue;  // with `skip_invalid`, as in the batches
    set.sources.push_back(tagged_source(corpus, pair));
    set.references.push_back(std::move(pair.target));
  }
  return set;
}

std::vector<std::string> remarks(const ValidationSet& set, const TrainOptions& options) {
  const CorpusStatistics& s = set.statistics;
  const bool texts = !set.sources.empty();  // BLEU or chrF is measured
  const auto of_all = [&](std::int64_t pairs) {
    return fmt::format("validation: {} of {} pairs", format_count(pairs), format_count(s.lines));
  };
  std::vector<std::string> list;
  if (s.too_long > 0)
    list.push_back(fmt::format(
        "{} have a side of more than the model's {} positions, the first one is {}; the loss covers only what fits{}",
        of_all(s.too_long), options.model.max_positions, s.first_too_long,
        texts ? ", sources are truncated for translation, and references are compared whole" : ""));
  if (s.empty > 0)
    list.push_back(fmt::format("{} have an empty side, the first one is {}; the loss excludes them{}", of_all(s.empty),
                               s.first_empty, texts ? ", BLEU and chrF include them" : ""));
  if (s.invalid > 0)
    list.push_back(
        fmt::format("{} are not UTF-8 and are left out, the first one is {}", of_all(s.invalid), s.first_invalid));
  return list;
}

ValidationScores validate(const ValidationSet& set, std::span<const Metric> metrics, Workers& workers,
                          const Translate& translate, const std::function<bool()>& stop) {
  const Evaluation e = workers.evaluate(set.batches, stop);
  ValidationScores scores{e.cross_entropy, e.perplexity(), {}, {}};
  if (std::none_of(metrics.begin(), metrics.end(), needs_text)) return scores;

  const std::vector<std::string> translations = translate(set.sources);
  const std::span<const std::vector<std::string>> references(&set.references, 1);
  for (Metric m : metrics) {
    if (m == Metric::bleu) scores.bleu = bleu(translations, references).score;
    if (m == Metric::chrf) scores.chrf = chrf(translations, references);
  }
  return scores;
}

double score_of(const ValidationScores& scores, Metric metric) {
  switch (metric) {
    case Metric::loss:
      return scores.cross_entropy;
    case Metric::perplexity:
      return scores.perplexity;
    case Metric::bleu:
      return scores.bleu.value_or(0);
    case Metric::chrf:
      return scores.chrf.value_or(0);
  }
  return 0;
}

bool better(Metric metric, double now, const std::optional<double>& best) {
  if (std::isnan(now)) return false;
  if (!best) return true;
  return metric == Metric::bleu || metric == Metric::chrf ? now > *best : now < *best;
}

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::loss:
      return "loss";
    case Metric::perplexity:
      return "perplexity";
    case Metric::bleu:
      return "BLEU";
    case Metric::chrf:
      return "chrF";
  }
  return "";
}

}  // namespace tril::train
