// How a model is opened and decodes, as declared fields: the model, the search (settings/search_options.h), and how it runs. The
// commands and the public interface (library/) share them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/placement.h"
#include "decode/batches/parallel.h"
#include "decode/texts/generator.h"
#include "decode/texts/translator.h"
#include "model/spec/model.h"
#include "model_io/contents/generation_config.h"
#include "model_io/source/model_source.h"
#include "settings/search_options.h"

namespace tril {

/// The forms of a model, for the help of options that name one.
inline constexpr std::string_view forms_of_models =
    "OWNER/NAME on the hub, a Hugging Face or CTranslate2 directory, a GGUF file, an .argosmodel, or Marian's "
    "directory, .npz, .bin or .zip";

struct DecodingOptions {
  std::string model, adapter;            ///< adapter: a PEFT directory; empty: none
  std::optional<std::string> precision;  ///< none: as stored in the directory
  std::int64_t threads = 0;              ///< 0: all cores
  PlacementOptions placement;            ///< of the threads and their memory
  std::optional<Placement> settled;      ///< by settle_placement(); none: when the options are used
  std::int64_t batch_size = 32;
  SearchOptions search;
  bool no_cache = false;
  std::optional<std::string> cache_precision;  ///< none: int8 if the weights are int8, int4 or blocks, else fp32
  std::int64_t attention_window = 0, attention_sinks = 0, prompt_chunk = 1024;

  std::vector<std::string> logit_bias;
};

/// Settles `threads`, `pin` and `numa` once for all later uses of `o`: a thread that is pinned by then has one core, and warnings
/// come once. @throws Error(usage) as placement_of()
void settle_placement(DecodingOptions& o);
/// The settled placement, or that of the calling thread.
Placement placement_of(const DecodingOptions& o);
/// Loads the model with its precision and adapter, where `numa` places it.
std::unique_ptr<model::Model> load_model(const model::ModelSource& source, const DecodingOptions& o);
/// "precision" or "adapter" if it makes load_model() differ from the stored weights in float32, as gradients need them; else "".
std::string changed_weights_by(const DecodingOptions& o);
/// Warns about unknown tokens (count_unknown).
void warn_of_unknown(std::int64_t tokens);
/// Makes a field a choice of nn::precision_names.
Field& precision_field(Field& f);
nn::Precision precision_of(std::string_view name);
/// model, adapter, precision, threads, pin, numa: for all that runs a model.
void add_model_fields(Fields& f, DecodingOptions& o);
/// source-language, target-language: for multilingual models.
void add_language_fields(Fields& f, std::string& source, std::string& target);
/// Limits of batch-size.
inline constexpr Range batch_sizes{1, 100'000};
/// threads alone.
Field& add_threads_field(Fields& f, std::int64_t& threads);
/// cache-precision.
void add_cache_precision_field(Fields& f, DecodingOptions& o);
/// How a search runs: batch-size, time-limit, and the options of the KV cache.
void add_batch_fields(Fields& f, DecodingOptions& o);
/// Search options for translations, and their lengths.
void add_translation_fields(Fields& f, DecodingOptions& o);
/// Search options for continuations, and their lengths.
void add_continuation_fields(Fields& f, DecodingOptions& o);
/// deterministic.
void add_deterministic_field(Fields& f, bool& deterministic);
/// Sampling options, penalties and forbidden tokens.
void add_choice_fields(Fields& f, DecodingOptions& o);
/// The end of a search field's help: the default if it is unset.
std::string unset_text(std::string_view field, std::string_view fallback);

/// The number of lines to read at a time, so that every worker finds batches of lines of similar lengths.
std::size_t lines_at_a_time(std::int64_t batch_size, std::int64_t workers);

/// The number of sentences of a document to translate at a time, after which they are shown and kept: fewer for a model with many
/// weights, so that a stop loses minutes of work, and at least two batches for every worker.
std::size_t sentences_at_a_time(std::int64_t weights, std::int64_t batch_size, std::int64_t workers);

/// Workers of one thread each, as `threads`, `pin` and `numa` say.
search::WorkerPool workers_of(const DecodingOptions& o);

/// Whether the KV cache has 8 bits: by cache_precision, or like the weights.
bool keeps_int8(const DecodingOptions& o, const model::Model& m);

/// The publisher's generation defaults, with ModelSource::end_tokens(). Warns about unsupported ones.
model::GenerationConfig published_generation(const model::ModelSource& source);

/// Throws Error(usage) naming a given option of translation that has no effect on a model of this kind.
void check_kind(const Fields& fields, const model::Model& m);

/// Tokens of the prefix cache of each worker that translates with a language model: its prompts begin alike.
inline constexpr std::int64_t shared_prompt_tokens = 4096;

/// @throws Error(usage) naming fields that contradict each other or have no effect
search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m, const Tokenizer& tokenizer);
search::GeneratorOptions generator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                           const model::Model& m, const Tokenizer& tokenizer);

}  // namespace tril
