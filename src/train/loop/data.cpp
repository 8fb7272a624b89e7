#include "train/loop/data.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/progress.h"
#include "corpus/byte_vocabulary.h"
#include "corpus/document.h"
#include "corpus/input.h"
#include "corpus/pair_reader.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "tokenizer/files/language_tag.h"
#include "tokenizer/files/marian_tokenizer.h"
#include "tokenizer/files/sentencepiece_directory.h"

namespace tril::train {
namespace {

SubwordSampling sampling(const DataOptions& d, Sides side) {
  if (d.bpe_dropout_sides != Sides::both && d.bpe_dropout_sides != side) return {};
  return {.bpe_dropout = d.bpe_dropout, .unigram_alpha = d.subword_alpha};
}

}  // namespace

std::unique_ptr<BatchStream> training_stream(const TrainOptions& options,
                                             const std::shared_ptr<const Tokenizer>& tokenizer,
                                             const CorpusState& state) {
  if (is_language_model(options.model)) return std::make_unique<LmCorpus>(training_text(options), *tokenizer, state);
  return std::make_unique<Corpus>(training_corpus(options), tokenizer, state);
}

std::vector<Batch> validation_batches(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer,
                                      CorpusStatistics* statistics) {
  if (is_language_model(options.model)) return read_lm_batches(validation_text(options), *tokenizer);
  return read_batches(validation_corpus(options), tokenizer, statistics);
}

LmCorpusOptions training_text(const TrainOptions& options) {
  const DataOptions& d = options.data;
  LmCorpusOptions c;
  c.file = d.train_sets[0];
  c.documents = d.documents;
  c.context = d.max_length;
  c.max_tokens = d.max_tokens;
  c.seed = options.run.seed;
  c.memory_bytes = d.data_memory_mib << 20;
  return c;
}

LmCorpusOptions validation_text(const TrainOptions& options) {
  LmCorpusOptions c = training_text(options);
  c.file = options.data.valid_sets[0];
  c.shuffle = false;
  return c;
}

std::vector<std::string> learned_alignments(const TrainOptions& options) {
  std::vector<std::string> files;
  for (std::size_t k = 1; k <= corpus_count(options.data); ++k)
    files.push_back(fmt::format("{}/guided-{}.align", options.run.model, k));
  return files;
}

void set_files(CorpusOptions& c, const std::vector<std::string>& sets, bool tsv) {
  if (tsv) {
    c.tsv = sets;
    return;
  }
  for (std::size_t i = 0; i + 1 < sets.size(); i += 2) {
    c.source.push_back(sets[i]);
    c.target.push_back(sets[i + 1]);
  }
}

CorpusOptions given_corpus(const TrainOptions& options) {
  CorpusOptions c = training_corpus(options);
  if (options.data.guided_alignment.learn) c.alignments.clear();
  return c;
}

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
  c.weights = d.data_weighting;
  c.alignments = d.guided_alignment.learn ? learned_alignments(options) : d.guided_alignment.files;
  c.alignment_units = d.guided_alignment_units;
  c.tags = d.language_tags;
  c.mix = corpus_count(d) > 1;
  c.temperature = d.corpus_temperature;
  c.shares = d.corpus_weights;
  c.source_sampling = sampling(d, Sides::source);
  c.target_sampling = sampling(d, Sides::target);
  return c;
}

CorpusOptions validation_corpus(const TrainOptions& options) {
  const DataOptions& d = options.data;
  CorpusOptions c;
  set_files(c, d.valid_sets, d.tsv);
  c.tags = d.language_tags;
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
  for (std::size_t i = 0; i < d.train_sets.size(); i += d.tsv ? 1 : 2) {
    r.source.push_back({d.train_sets[i], d.tsv ? 0 : -1});
    r.target.push_back(d.tsv ? TextSource{d.train_sets[i], 1} : TextSource{d.train_sets[i + 1]});
  }
  r.tags = d.language_tags;
  std::erase(r.tags, "");
  r.joint = !d.separate_vocabs;
  r.model_max_length = static_cast<std::int32_t>(options.model.max_positions);
  return r;
}

VocabularyOptions vocabulary_options(const TrainOptions& options) {
  VocabularyOptions v;
  v.size = static_cast<std::int32_t>(options.data.vocab_size);
  v.model = options.data.vocab_type;
  v.seed = options.run.seed;
  v.skip_invalid = options.data.skip_invalid;
  v.may_be_smaller = true;
  return v;
}

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainOptions& options, const InitialModel& initial) {
  const DataOptions& d = options.data;
  if (initial) return initial->tokenizer();
  if (!d.vocab.empty() && std::filesystem::is_directory(d.vocab)) return load_tokenizer(d.vocab);
  if (!d.vocab.empty() && is_language_model(options.model)) {
    TokenizerDescription model = describe_sentencepiece_model(d.vocab);
    return make_pipeline_tokenizer(std::move(model.parts), std::move(model.settings));
  }
  if (!d.vocab.empty()) {
    MarianParts parts;
    parts.source_spm = parts.target_spm = read_sentencepiece(d.vocab);
    parts.tags = vocabulary_request(options).tags;
    parts.model_max_length = static_cast<std::int32_t>(options.model.max_positions);
    return make_marian_tokenizer(std::move(parts));
  }
  if (is_language_model(options.model) && d.vocab_type == SubwordKind::character) {
    const std::string text = read_document(d.train_sets[0], d.data_memory_mib << 20);
    return make_character_tokenizer(text, static_cast<std::int32_t>(d.max_length));
  }
  spdlog::info("learning a vocabulary of {} pieces", format_count(d.vocab_size));
  if (is_language_model(options.model))
    return train_byte_tokenizer({{d.train_sets[0]}},
                                {.size = d.vocab_size, .model_max_length = static_cast<std::int32_t>(d.max_length)});
  return train_marian_tokenizer(vocabulary_request(options), vocabulary_options(options));
}

void check_input_files(const TrainOptions& options) {
  if (is_language_model(options.model)) {
    const auto check_opens = [](const std::string& path) { [[maybe_unused]] const Input input(path); };
    check_opens(options.data.train_sets[0]);
    if (!options.data.valid_sets.empty()) check_opens(options.data.valid_sets[0]);
    return;
  }
  check_files(given_corpus(options));
  if (!options.data.valid_sets.empty()) check_files(validation_corpus(options));
  const std::string& vocab = options.data.vocab;
  if (!vocab.empty() && !std::filesystem::is_directory(vocab)) MappedFile::open(vocab);
}

void check_texts(const TrainOptions& options) {
  if (is_language_model(options.model)) return;
  check_pairs(given_corpus(options));
  if (!options.data.valid_sets.empty()) check_pairs(validation_corpus(options));
}

void check_first_batch(const TrainOptions& options, const std::shared_ptr<const Tokenizer>& tokenizer) {
  if (is_language_model(options.model)) {
    training_stream(options, tokenizer)->next();
    return;
  }
  CorpusOptions c = given_corpus(options);
  c.memory_bytes = std::min<std::int64_t>(c.memory_bytes, 1 << 20);  // no more than a batch needs
  c.mix = false, c.shares.clear(), c.temperature = 1;                // in the order of the files, without counting
  c.prefetch = 0;
  Corpus(c, tokenizer).next();
}

}  // namespace tril::train
