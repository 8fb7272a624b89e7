#include "decode/models/decoding_options.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/cores.h"
#include "base/log.h"
#include "base/progress.h"
#include "decode/texts/logit_bias.h"
#include "decode/texts/search_setup.h"
#include "model_io/adapters/adapter.h"
#include "model_io/source/registry.h"
#include "nn/serving.h"
#include "search/resolve.h"

namespace tril {

Field& precision_field(Field& f) {
  return f.choices({nn::precision_names.begin(), nn::precision_names.end()}).value_name("NAME");
}

nn::Precision precision_of(std::string_view name) {
  const auto& names = nn::precision_names;
  return static_cast<nn::Precision>(std::find(names.begin(), names.end(), name) - names.begin());
}

void warn_of_unknown(std::int64_t tokens) {
  if (tokens > 0)
    logger()->warn("unknown tokens, for characters that are not in the vocabulary: {}", format_count(tokens));
}

void settle_placement(DecodingOptions& o) {
  o.threads = thread_count(o.threads, o.placement);
  o.settled = placement_of(o.placement, static_cast<int>(o.threads));
}

Placement placement_of(const DecodingOptions& o) {
  return o.settled ? *o.settled : placement_of(o.placement, thread_count(o.threads, o.placement));
}

std::unique_ptr<model::Model> load_model(const model::ModelSource& source, const DecodingOptions& o) {
  const MemoryPlaced memory(o.placement.numa, MemoryOf::all_threads);
  std::unique_ptr<model::Model> m =
      model::load(source, o.precision ? precision_of(*o.precision) : source.stored_precision(),
                  thread_count(o.threads, o.placement));
  if (o.adapter.empty()) return m;
  const model::Adapter adapter = model::Adapter::open(o.adapter);
  model::attach(*m, source, {&adapter, 1}, /*standard=*/0);
  return m;
}

std::string changed_weights_by(const DecodingOptions& o) {
  if (o.precision) return "precision";
  return o.adapter.empty() ? "" : "adapter";
}

void add_model_fields(Fields& f, DecodingOptions& o) {
  f.add("model", &o.model, fmt::format("model: {}", forms_of_models))
      .letter('m')
      .value_name("DIR")
      .required()
      .free_to_change();
  f.add("adapter", &o.adapter,
        "PEFT adapter (LoRA, rsLoRA, DoRA) to apply at run time: a directory, or OWNER/NAME on the hub; no file of the "
        "model changes")
      .value_name("DIR");
  precision_field(
      f.add("precision", &o.precision,
            "precision of the weights: fewer bits are faster and smaller; unset: as the directory stores them"));
  add_threads_field(f, o.threads).free_to_change();
  add_placement_fields(f, o.placement);
}

Field& add_threads_field(Fields& f, std::int64_t& threads) {
  return f.add("threads", &threads, "number of cores to use; 0: all").at_least(0).at_most(4096);
}

void add_language_fields(Fields& f, std::string& source, std::string& target) {
  f.add("source-language", &source,
        "source language in any form (en, eng, eng_Latn, en_XX), for a model with language tokens; unset: as its "
        "directory says, else English, with a warning; auto: detected for each line, in `tril translate`")
      .value_name("NAME");
  f.add("target-language", &target,
        "target language, for a multilingual model: its tag, >>de<< or <2de>, is put in front of the source, or the "
        "translation begins with its token")
      .value_name("NAME");
}

std::string unset_text(std::string_view field, std::string_view fallback) {
  if (field == "seed") return "; unset: 1, so that the same command gives the same text";
  if (field == "patience") return "; unset: 1";
  if (field == "max-length-factor")
    return "; unset: none if the model's directory sets a length below the model's positions, else 3";
  return fmt::format("; unset: as the model's directory says, or {}", fallback);
}

namespace {

void add_search_fields(Fields& f, DecodingOptions& o) {
  add_beam_fields(f, o.search, unset_text);
  f.at("beam-size", "").letter('b');
  add_alternative_fields(f, o.search, "alternatives", "min-alternative-prob");
}

}  // namespace

void add_cache_precision_field(Fields& f, DecodingOptions& o) {
  f.add("cache-precision", &o.cache_precision,
        "number format of the KV cache: int8, with a scale for each token and head, takes a quarter of the memory; "
        "unset: int8 with `precision` int8, int4 or blocks, else fp32")
      .choices({"fp32", "int8"})
      .value_name("NAME");
}

void add_batch_fields(Fields& f, DecodingOptions& o) {
  f.add("batch-size", &o.batch_size, "number of sentences that a worker decodes together")
      .within(batch_sizes)
      .free_to_change();
  f.add("time-limit", &o.search.time_limit,
        "seconds that a sentence or prompt may take once it has started; then the best result so far is printed; 0: no "
        "limit")
      .value_name("SECONDS")
      .within(limits::time_limit);
  f.add("no-cache", &o.no_cache,
        "compute every step from the first token, without a KV cache: slower, with the same result; for checks");
  add_cache_precision_field(f, o);
  f.add("attention-window", &o.attention_window,
        "a token attends only to itself and the W - 1 tokens of the output (or text) before it; 0: no window")
      .value_name("W")
      .at_least(0)
      .at_most(1'000'000'000);
  f.add("attention-sinks", &o.attention_sinks,
        "with `attention_window`: the first S tokens stay visible too, which keeps a model fluent beyond its window")
      .value_name("S")
      .at_least(0)
      .at_most(1'000'000);
}

void add_translation_fields(Fields& f, DecodingOptions& o) {
  add_search_fields(f, o);
  add_length_fields(f, o.search, unset_text);
  add_batch_fields(f, o);
}

void add_continuation_fields(Fields& f, DecodingOptions& o) {
  add_new_token_fields(f, o.search, unset_text);
  add_search_fields(f, o);
  add_batch_fields(f, o);
  f.add("prompt-chunk", &o.prompt_chunk, "number of prompt tokens read at once: memory outside the cache grows with it")
      .at_least(1)
      .at_most(1'000'000);
  f.excludes("prompt-chunk", "no-cache", "without a cache every step reads the whole text");
}

void add_deterministic_field(Fields& f, bool& deterministic) {
  f.add("deterministic", &deterministic,
        "give the same output to the last bit for any batching and number of workers; slower");
}

void add_choice_fields(Fields& f, DecodingOptions& o) {
  f.group("Sampling");
  f.add("sampling", &o.search.sampling,
        "draw tokens at random instead of taking the likeliest; the options of this group imply it");
  add_sampling_fields(f, o.search, unset_text);
  f.group("Penalties");
  add_penalty_fields(f, o.search, unset_text);
  f.add("logit-bias", &o.logit_bias,
        "added to the logit of a token, given by its id or as a text of one token: from -100, which forbids it, to 100")
      .value_name("TOKEN=BIAS");
}

std::size_t lines_at_a_time(std::int64_t batch_size, std::int64_t workers) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1024, 32 * batch_size * workers));
}

std::size_t sentences_at_a_time(std::int64_t weights, std::int64_t batch_size, std::int64_t workers) {
  constexpr std::int64_t product = 60'000'000'000;  // sentences times weights: a minute or two on two cores
  const std::int64_t affordable = product / std::max<std::int64_t>(1, weights);
  const std::size_t most = lines_at_a_time(batch_size, workers);
  return std::min(most, static_cast<std::size_t>(std::max(affordable, 2 * batch_size * workers)));
}

search::WorkerPool workers_of(const DecodingOptions& o) {
  return search::WorkerPool(thread_count(o.threads, o.placement), kern::best(), placement_of(o));
}

bool keeps_int8(const DecodingOptions& o, const model::Model& m) {
  if (o.cache_precision) return *o.cache_precision == "int8";
  if (m.cache_form() == model::CacheForm::states || o.no_cache) return false;
  const nn::Precision weights = m.parameters().precision();
  return weights != nn::Precision::fp32 && weights != nn::Precision::bf16;
}

namespace {

// Sets how to decode, and the search options that requests of the server lack.
void set_decoding(const DecodingOptions& o, const model::Model& m, const Tokenizer& tokenizer,
                  search::ParallelOptions& p) {
  check_all_used(o.search, p.search);
  search::add_biases(o.logit_bias, tokenizer, "logit_bias", p.search);
  p.batch_size = static_cast<std::int32_t>(o.batch_size);
  p.threads = thread_count(o.threads, o.placement);
  p.placement = placement_of(o);
  p.session.cache.use = !o.no_cache;
  p.session.cache.kept = {.precision = keeps_int8(o, m) ? nn::KvCache::Precision::int8 : nn::KvCache::Precision::fp32,
                          .window = static_cast<std::int32_t>(o.attention_window),
                          .sinks = static_cast<std::int32_t>(o.attention_sinks)};
  p.session.cache.prompt_chunk = static_cast<std::int32_t>(o.prompt_chunk);
  if (o.attention_sinks > 0 && o.attention_window == 0)
    fail_usage("attention_sinks", "without a window every token stays in sight", "pass `attention_window` too");
  if (o.no_cache && o.cache_precision && *o.cache_precision != "fp32")
    fail_usage("cache_precision", "has no effect with `no_cache`", "leave one of them out");
}

}  // namespace

void check_kind(const Fields& fields, const model::Model& m) {
  const auto refuse = [&](std::initializer_list<const char*> names, const char* whose) {
    for (const char* name : names)
      if (const Field* field = fields.find(name); field && field->given())
        fail_usage(name, fmt::format("is for {}, but this is a {} model", whose, m.family()), "leave it out");
  };
  if (m.has_encoder())
    refuse({"prompt-template", "context", "style"}, "the prompts of language models");
  else
    refuse({"alignment", "alignment-layer", "replace-unknowns", "coverage-penalty", "shortlist"},
           "encoder-decoder models");
}

search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m, const Tokenizer& tokenizer) {
  search::TranslatorOptions t = search::translator_options(o.search, g, m, tokenizer);
  set_decoding(o, m, tokenizer, t.decoding);
  return t;
}

model::GenerationConfig published_generation(const model::ModelSource& source) {
  for (const std::string& key : source.generation().not_obeyed)
    logger()->warn("{}: asks for {}, which is not supported and is ignored", source.generation().where, key);
  model::GenerationConfig g = source.generation();
  g.eos_token_ids = source.end_tokens();
  return g;
}

search::GeneratorOptions generator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                           const model::Model& m, const Tokenizer& tokenizer) {
  search::GeneratorOptions t = search::generator_options(o.search, g, m, tokenizer);
  set_decoding(o, m, tokenizer, t.decoding);
  return t;
}

}  // namespace tril
