// The options of decoding that `translate`, `generate`, `chat`, `serve` and their benchmarks share: the model, the search
// (settings/search_options.h), and how it is run.
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
#include "model_io/model_source.h"
#include "settings/search_options.h"

namespace tril::cli {

struct DecodingOptions {
  std::string model;
  std::optional<std::string> precision;  ///< none: as the directory stores it
  std::int64_t threads = 0;              ///< 0: all cores
  std::int64_t batch_size = 32;
  SearchOptions search;
  bool no_cache = false;
  std::optional<std::string> cache_precision;  ///< none: int8 where the weights are int8 or int4, else fp32
  std::int64_t attention_window = 0, attention_sinks = 0, prompt_chunk = 1024;

  std::vector<std::string> logit_bias;
};

/// The model as --precision says.
std::unique_ptr<model::Model> load_model(const model::ModelSource& source, const DecodingOptions& o);
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
/// Of the search for a translation, and its lengths.
void add_translation_fields(Fields& f, DecodingOptions& o);
/// Of the search for a continuation, and its lengths.
void add_continuation_fields(Fields& f, DecodingOptions& o);
/// How tokens are drawn, and what is penalised or forbidden.
void add_choice_fields(Fields& f, DecodingOptions& o);
/// How the command line ends the help of a field of the search: what holds where it is unset.
std::string unset_text(std::string_view field, std::string_view fallback);

/// Whether keys and values are kept in 8 bits: as --cache-precision says, or as the weights are.
bool keeps_int8(const DecodingOptions& o, const model::Model& m);

/// What the model's publisher asks of generation. Warns of what is not obeyed.
model::GenerationConfig published_generation(const model::ModelSource& source);

/// @throws Error(usage) that names the fields that contradict each other, or have no effect
search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m, const Tokenizer& tokenizer);
search::GeneratorOptions generator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                           const model::Model& m, const Tokenizer& tokenizer);

}  // namespace tril::cli
