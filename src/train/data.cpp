#include "train/data.h"

#include <algorithm>

namespace tril::train {
namespace {

void set_files(CorpusOptions& c, const std::vector<std::string>& sets, bool tsv) {
  if (tsv) {
    c.tsv = {sets[0]};
  } else {
    c.source = {sets[0]};
    c.target = {sets[1]};
  }
}

}  // namespace

CorpusOptions training_corpus(const TrainOptions& options) {
  const DataOptions& d = options.data;
  CorpusOptions c;
  set_files(c, d.train_sets, d.tsv);
  c.max_tokens = d.max_tokens;
  c.max_length = static_cast<std::int32_t>(std::min(d.max_length, d.max_tokens));
  c.too_long = d.max_length_crop ? TooLong::crop : TooLong::skip;
  c.seed = options.run.seed;
  c.memory_bytes = d.data_memory_mib << 20;
  c.skip_invalid = d.skip_invalid;
  return c;
}

CorpusOptions validation_corpus(const TrainOptions& options) {
  const DataOptions& d = options.data;
  CorpusOptions c;
  set_files(c, d.valid_sets, d.tsv);
  c.max_length = static_cast<std::int32_t>(options.model.max_positions);
  c.max_tokens = std::max(d.max_tokens, options.model.max_positions);
  c.too_long = TooLong::crop;
  c.shuffle = false;
  c.skip_invalid = d.skip_invalid;
  c.prefetch = 0;
  return c;
}

VocabularyRequest vocabulary_request(const TrainOptions& options) {
  const DataOptions& d = options.data;
  VocabularyRequest r;
  if (d.tsv) {
    r.source = {{d.train_sets[0], 0}};
    r.target = {{d.train_sets[0], 1}};
  } else {
    r.source = {{d.train_sets[0]}};
    r.target = {{d.train_sets[1]}};
  }
  r.joint = !d.separate_vocabs;
  r.model_max_length = static_cast<std::int32_t>(options.model.max_positions);
  return r;
}

VocabularyOptions vocabulary_options(const TrainOptions& options) {
  VocabularyOptions v;
  v.size = static_cast<std::int32_t>(options.data.vocab_size);
  v.model = subword_model(options.data.vocab_type);
  v.seed = options.run.seed;
  v.skip_invalid = options.data.skip_invalid;
  return v;
}

}  // namespace tril::train
