#include "train/loop/samples.h"

#include <algorithm>

#include "base/as_size.h"
#include "corpus/pair_reader.h"
#include "train/loop/data.h"

namespace tril::train {
namespace {

constexpr std::size_t longest_sample = 400;  // bytes: what a page can show of a sentence

bool fit_to_show(const SampleText& s) {
  return !s.source.empty() && !s.reference.empty() && s.source.size() <= longest_sample &&
         s.reference.size() <= longest_sample;
}

}  // namespace

std::vector<SampleText> choose_samples(const std::vector<SampleText>& set, std::int64_t count) {
  std::vector<const SampleText*> fit;
  for (const SampleText& s : set)
    if (fit_to_show(s)) fit.push_back(&s);
  const std::size_t n = std::min(as_size(count), fit.size());
  std::vector<SampleText> chosen;
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(*fit[(2 * i + 1) * fit.size() / (2 * n)]);  // middles of n parts
  return chosen;
}

std::vector<SampleText> read_samples(const TrainOptions& options) {
  const bool pairs = !is_language_model(options.model);
  if (options.data.valid_sets.empty() || options.validation.valid_samples == 0 || !pairs) return {};
  const CorpusOptions corpus = validation_corpus(options);
  PairReader reader(corpus);
  std::vector<SampleText> set;
  for (PairText pair; reader.next(pair);)
    if (pair.valid) set.push_back({reader.position(), tagged_source(corpus, pair), pair.target});
  return choose_samples(set, options.validation.valid_samples);
}

Samples show_samples(const std::vector<SampleText>& texts, std::int64_t attention, const model::Model& m,
                     const Tokenizer& tokenizer, const Translate& translate) {
  Samples samples;
  if (!m.has_encoder()) samples.kind = "continuation";
  std::vector<std::string> sources;
  for (const SampleText& t : texts) sources.push_back(t.source);
  const std::vector<std::string> hypotheses = translate(sources);
  check(hypotheses.size() == texts.size(), "samples", "{} translations of {} sentences", hypotheses.size(),
        texts.size());
  Arena arena;
  Context c(arena);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    samples.list.push_back({texts[i], hypotheses[i], {}});
    if (static_cast<std::int64_t>(i) < attention)
      samples.list.back().attention = search::attention_maps(c, m, tokenizer, {texts[i].source, texts[i].reference});
  }
  return samples;
}

}  // namespace tril::train
