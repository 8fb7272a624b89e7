// The options of decoding that `translate`, `generate` and their benchmarks share, and what becomes of them together with
// what the model's publisher says in generation_config.json: a flag wins over that file, that file over the defaults of
// `transformers`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "decode/texts/generator.h"
#include "decode/texts/translator.h"
#include "model/spec/model.h"
#include "model_io/generation_config.h"

namespace tril::cli {

struct DecodingOptions {
  std::string model;
  std::optional<std::string> precision;  ///< none: as the directory stores it
  std::int64_t threads = 0;              ///< 0: all cores
  std::int64_t batch_size = 32;
  std::optional<std::int64_t> beam_size, min_length, max_length;
  std::optional<double> length_penalty;
  std::optional<std::string> early_stopping;
  std::optional<double> patience;
  std::optional<std::int64_t> beam_groups;
  std::optional<double> diversity_penalty;
  bool alternatives = false;
  double time_limit = 0;
  std::optional<double> min_alternative_prob;
  std::int64_t n_best = 1;
  std::optional<double> max_length_factor;
  bool no_cache = false;
  std::optional<std::string> cache_precision;  ///< none: int8 where the weights are int8 or int4, else fp32
  std::int64_t attention_window = 0, attention_sinks = 0, prompt_chunk = 1024;

  bool sampling = false;
  std::optional<double> temperature, top_p, min_p, typical_p;
  std::optional<std::int64_t> top_k;
  std::optional<std::uint64_t> seed;
  std::optional<double> repetition_penalty;
  double presence_penalty = 0, frequency_penalty = 0;
  std::optional<std::int64_t> no_repeat_ngram;
  std::vector<std::string> bad_words, logit_bias;

  std::optional<std::int64_t> min_new_tokens, max_new_tokens;  ///< of `generate`
  std::vector<std::string> stops;                              ///< likewise
};

/// The model as --model and --precision say.
std::unique_ptr<model::Model> load_model(const DecodingOptions& o);
/// Warns of tokens (count_unknown) that are not what the text says.
void warn_of_unknown(std::int64_t tokens);
/// Says that a field is a choice of nn::precision_names, and which one a choice is.
Field& precision_field(Field& f);
nn::Precision precision_of(std::string_view name);
/// --model, --precision, --threads: what every command that runs a model takes.
void add_model_fields(Fields& f, DecodingOptions& o);
/// --source-language, --target-language: of a model of several.
void add_language_fields(Fields& f, std::string& source, std::string& target);
/// --batch-size, --no-cache.
void add_batch_fields(Fields& f, DecodingOptions& o);
/// Those of the search for a translation, and its lengths.
void add_search_fields(Fields& f, DecodingOptions& o);
/// Those of the search for what a text goes on with, and its lengths.
void add_continuation_fields(Fields& f, DecodingOptions& o);
/// How tokens are drawn, and what is penalised or forbidden.
void add_sampling_fields(Fields& f, DecodingOptions& o);

/// Whether keys and values are kept in 8 bits: as --cache-precision says, or as the weights are.
bool keeps_int8(const DecodingOptions& o, const model::Model& m);

/// What the model's publisher asks of generation. Warns of what is not obeyed.
model::GenerationConfig published_generation(const std::string& model);

/// @param n_best_flag  how the command calls the number of hypotheses, for errors
/// @throws Error(usage) that names the flags that contradict each other, or have no effect
search::SearchOptions search_options(const DecodingOptions& o, const model::GenerationConfig& g, const model::Model& m,
                                     const Tokenizer& tokenizer, const std::string& n_best_flag);
search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m, const Tokenizer& tokenizer);
search::GeneratorOptions generator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                           const model::Model& m, const Tokenizer& tokenizer);

}  // namespace tril::cli
