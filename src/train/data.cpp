#include "train/data.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/progress.h"
#include "text/marian_tokenizer.h"

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

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainOptions& options) {
  const DataOptions& d = options.data;
  if (!d.vocab.empty() && std::filesystem::is_directory(d.vocab)) return load_tokenizer(d.vocab);
  if (!d.vocab.empty()) {
    MarianParts parts;
    parts.source_spm = parts.target_spm = read_sentencepiece(d.vocab);
    parts.model_max_length = static_cast<std::int32_t>(options.model.max_positions);
    return make_marian_tokenizer(std::move(parts));
  }
  spdlog::info("learning a vocabulary of {} pieces", format_count(d.vocab_size));
  return train_marian_tokenizer(vocabulary_request(options), vocabulary_options(options));
}

void check_input_files(const TrainOptions& options) {
  check_files(training_corpus(options));
  if (!options.data.valid_sets.empty()) check_files(validation_corpus(options));
  const std::string& vocab = options.data.vocab;
  if (!vocab.empty() && !std::filesystem::is_directory(vocab)) MappedFile::open(vocab);
}

}  // namespace tril::train
