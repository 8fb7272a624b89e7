#include "cli/options/decoding_options.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/cores.h"
#include "base/progress.h"
#include "decode/batches/parallel.h"
#include "decode/texts/bad_words.h"
#include "decode/texts/logit_bias.h"
#include "model_io/quantized_files.h"
#include "model_io/registry.h"
#include "nn/serving.h"

namespace tril::cli {

Field& precision_field(Field& f) {
  return f.choices({nn::precision_names.begin(), nn::precision_names.end()}).value_name("NAME");
}

nn::Precision precision_of(std::string_view name) {
  const auto& names = nn::precision_names;
  return static_cast<nn::Precision>(std::find(names.begin(), names.end(), name) - names.begin());
}

namespace {
// A guard of translations, which are about as long as their sources, against a model that cannot stop.
constexpr double default_max_length_factor = 3;
}  // namespace

void warn_of_unknown(std::int64_t tokens) {
  if (tokens > 0) spdlog::warn("unknown tokens, for characters that the vocabulary lacks: {}", format_count(tokens));
}

std::unique_ptr<model::Model> load_model(const DecodingOptions& o) {
  return model::load(o.model, o.precision ? precision_of(*o.precision) : model::stored_precision(o.model));
}

void add_model_fields(Fields& f, DecodingOptions& o) {
  f.add("model", &o.model, "the model's directory, as Hugging Face lays it out")
      .letter('m')
      .value_name("DIR")
      .required()
      .free_to_change();
  precision_field(f.add("precision", &o.precision,
                        "numbers of weights in products, fewer bits being faster and smaller; as the directory stores "
                        "them unless given"));
  f.add("threads", &o.threads, "cores to use, a worker each; 0 takes all").at_least(0).at_most(4096).free_to_change();
}

void add_language_fields(Fields& f, std::string& source, std::string& target) {
  f.add("source-language", &source,
        "language of the text, for a model with tokens of languages (M2M100: en, NLLB: eng_Latn, mBART: en_XX); unset: "
        "as its directory says, or else English, with a warning")
      .value_name("NAME");
  f.add("target-language", &target,
        "language of the translation, for a model of several: its tag, >>de<<, is put in front of the source, or the "
        "translation begins with its token")
      .value_name("NAME");
}

namespace {

void add_beam_fields(Fields& f, DecodingOptions& o) {
  f.add("beam-size", &o.beam_size,
        "hypotheses kept at each decode step, 1 is greedy search; unset: as the model's directory says, or 1")
      .letter('b')
      .at_least(1)
      .at_most(1000);
  f.add("length-penalty", &o.length_penalty,
        "a hypothesis of n tokens scores log p / n^A; unset: as the model's directory says, or 1")
      .value_name("A")
      .at_least(-search::largest_length_penalty)
      .at_most(search::largest_length_penalty);
  f.add("early-stopping", &o.early_stopping,
        "end a beam search once it has a beam of finished hypotheses (true), when better ones are unlikely (false) or "
        "impossible (never); unset: as the model's directory says, or false")
      .choices({"false", "true", "never"})
      .value_name("WHEN");
  f.add("patience", &o.patience,
        "a beam search is after P times as many finished hypotheses as the beam holds; unset: 1")
      .value_name("P")
      .above(0)
      .at_most(1000);
  f.add("beam-groups", &o.beam_groups,
        "divide the beam into so many groups that each look for what the others have not; unset: as the model's "
        "directory says, or 1")
      .value_name("G")
      .at_least(1)
      .at_most(1000);
  f.add("diversity-penalty", &o.diversity_penalty,
        "taken off a token's log-probability for each hypothesis of the groups before that has it at the same place; "
        "unset: as the model's directory says, or 0.5 with --beam-groups")
      .value_name("X")
      .at_least(0)
      .at_most(1000);
  f.add("alternatives", &o.alternatives,
        "instead of the best hypotheses, the best one behind each of the likeliest first tokens");
  f.add("min-alternative-prob", &o.min_alternative_prob, "a first token less probable than P begins no alternative")
      .value_name("P")
      .at_least(0)
      .at_most(1);
}

}  // namespace

void add_batch_fields(Fields& f, DecodingOptions& o) {
  f.add("batch-size", &o.batch_size, "sentences that a worker decodes together")
      .at_least(1)
      .at_most(100'000)
      .free_to_change();
  f.add("time-limit", &o.time_limit,
        "seconds that a sentence or prompt may take once it is begun; what is best by then is printed; 0: any time")
      .value_name("SECONDS")
      .at_least(0)
      .at_most(1e9);
  f.add("no-cache", &o.no_cache, "compute every step from the beginning: slow, the same result, for checks");
  f.add("cache-precision", &o.cache_precision,
        "numbers that the keys and values of earlier tokens are kept in: int8, with a scale for each token and head, "
        "takes a quarter of the memory; int8 with --precision int8 and int4 unless given, else fp32")
      .choices({"fp32", "int8"})
      .value_name("NAME");
  f.add("attention-window", &o.attention_window,
        "a token sees itself and the W - 1 tokens of the output (of the text) before it, no others; 0: all")
      .value_name("W")
      .at_least(0)
      .at_most(1'000'000'000);
  f.add("attention-sinks", &o.attention_sinks,
        "with --attention-window: the first S tokens stay in sight, which keeps a model fluent beyond its window")
      .value_name("S")
      .at_least(0)
      .at_most(1'000'000);
}

void add_search_fields(Fields& f, DecodingOptions& o) {
  add_beam_fields(f, o);
  f.add("min-length", &o.min_length, "tokens of output at least; unset: as the model's directory says, or 0")
      .at_least(0)
      .at_most(1'000'000);
  f.add("max-length", &o.max_length,
        "tokens of output at most, the end token counted; unset: as the model's directory says, or 512")
      .at_least(1)
      .at_most(1'000'000);
  f.add("max-length-factor", &o.max_length_factor,
        "maximum length of the output, as a multiple of the source's tokens, plus 20; 0: no such limit; unset: none if "
        "the model's directory sets a length below the model's positions, else 3")
      .at_least(0);
  add_batch_fields(f, o);
}

void add_continuation_fields(Fields& f, DecodingOptions& o) {
  f.add("max-new-tokens", &o.max_new_tokens,
        "tokens to generate at most; unset: as the model's directory says, or 256; the model's positions bound it")
      .at_least(1)
      .at_most(1'000'000);
  f.add("min-new-tokens", &o.min_new_tokens,
        "tokens before the end token may come; unset: as the model's directory says, or 0")
      .at_least(0)
      .at_most(1'000'000);
  f.add("stop", &o.stops, "texts before which a generation ends").value_name("TEXT");
  add_beam_fields(f, o);
  add_batch_fields(f, o);
  f.add("prompt-chunk", &o.prompt_chunk,
        "tokens of prompts that are read at once: memory beside the cache grows with it")
      .at_least(1)
      .at_most(1'000'000);
  f.excludes("prompt-chunk", "no-cache", "without a cache every step reads all of the text");
}

void add_sampling_fields(Fields& f, DecodingOptions& o) {
  f.group("Sampling");
  f.add("sampling", &o.sampling, "draw tokens instead of taking the likeliest; the options of this group imply it");
  f.add("temperature", &o.temperature,
        "logits are divided by it: below 1 sharper, above flatter; 0: take the likeliest; unset: as the model's "
        "directory says, or 1")
      .value_name("T")
      .at_least(0)
      .at_most(1000);
  f.add("top-k", &o.top_k, "draw from the K likeliest tokens; 0: from all; unset: as the model's directory says, or 50")
      .value_name("K")
      .at_least(0)
      .at_most(1'000'000'000);
  f.add("top-p", &o.top_p, "draw from the fewest tokens that together have this probability; 1: from all")
      .value_name("P")
      .at_least(0)
      .at_most(1);
  f.add("min-p", &o.min_p, "draw from tokens of at least this share of the likeliest one's probability; 0: from all")
      .value_name("P")
      .at_least(0)
      .at_most(1);
  f.add("typical-p", &o.typical_p,
        "draw from the tokens that say about as much as is to be expected, of this probability together; 1: from all")
      .value_name("P")
      .above(0)
      .at_most(1);
  f.add("seed", &o.seed, "of what is drawn; unset: 1, so that the same command gives the same text");
  f.group("Penalties");
  f.add("repetition-penalty", &o.repetition_penalty,
        "logits of tokens that were there, given ones too, are divided by it (negative ones multiplied); unset: as the "
        "model's directory says, or 1: none")
      .value_name("X")
      .above(0)
      .at_most(1000);
  f.add("presence-penalty", &o.presence_penalty, "taken off the logit of every token generated before")
      .value_name("X")
      .at_least(-1000)
      .at_most(1000);
  f.add("frequency-penalty", &o.frequency_penalty, "taken off it for each time that the token was generated")
      .value_name("X")
      .at_least(-1000)
      .at_most(1000);
  f.add("no-repeat-ngram", &o.no_repeat_ngram,
        "no N tokens in a row come twice; 0: they may; unset: as the model's directory says, or 0")
      .at_least(0)
      .at_most(1'000'000);
  f.add("bad-words", &o.bad_words,
        "texts that never come: their tokens, at the beginning of a word and without a space")
      .value_name("TEXT");
  f.add("logit-bias", &o.logit_bias,
        "added to the logits of a token, by its id or as a text of one token: from -100, which forbids it, to 100")
      .value_name("TOKEN=BIAS");
}

namespace {

search::SamplingOptions sampling_options(const DecodingOptions& o, const model::GenerationConfig& g) {
  // The first flag that says how to draw, "" where none does.
  std::string narrowing;
  for (const auto& [given, flag] : {std::pair{o.top_k.has_value(), "--top-k"},
                                    {o.top_p.has_value(), "--top-p"},
                                    {o.min_p.has_value(), "--min-p"},
                                    {o.typical_p.has_value(), "--typical-p"},
                                    {o.sampling, "--sampling"}})
    if (given && narrowing.empty()) narrowing = flag;
  if (o.temperature == 0.0 && !narrowing.empty())
    fail_usage("--temperature", "0 takes the likeliest token, which leaves " + narrowing + " nothing to choose",
               "pass a temperature above 0, or leave " + narrowing + " out");
  const bool asked = o.temperature.value_or(0) > 0 || !narrowing.empty();
  const std::int64_t beam = o.beam_size.value_or(1);
  if (asked && beam > 1)
    fail_usage("--beam-size",
               fmt::format("a beam of {} follows the likeliest tokens, {} draws others", beam,
                           narrowing.empty() ? "--temperature" : narrowing),
               "choose one of them");

  search::SamplingOptions s;
  s.temperature = o.temperature.value_or(g.temperature.value_or(1));
  s.on = asked || (g.do_sample && beam == 1 && s.temperature > 0);
  s.top_k = static_cast<std::int32_t>(o.top_k.value_or(g.top_k.value_or(50)));
  s.top_p = o.top_p.value_or(g.top_p.value_or(1));
  s.min_p = o.min_p.value_or(g.min_p.value_or(0));
  s.typical_p = o.typical_p.value_or(g.typical_p.value_or(1));
  if (asked && s.temperature == 0) s.temperature = 1;  // the directory's 0 means that it does not draw
  if (o.seed && !s.on) fail_usage("--seed", "nothing is drawn", "pass --sampling or a --temperature above 0");
  s.seed = o.seed.value_or(1);
  return s;
}

}  // namespace

namespace {

// What the directory says of groups is meant for the beam that it says, or for one that they divide.
void set_groups(const DecodingOptions& o, const model::GenerationConfig& g, search::SearchOptions& s) {
  if (o.beam_groups) {
    s.beam_groups = static_cast<std::int32_t>(*o.beam_groups);
    if (s.beam_groups > 1 && s.beam_size % s.beam_groups != 0)
      fail_usage("--beam-groups", fmt::format("a beam of {} cannot be divided by {}", s.beam_size, s.beam_groups),
                 fmt::format("pass -b {}", (s.beam_size / s.beam_groups + 1) * s.beam_groups));
  } else if (g.num_beam_groups > 1 && s.has_beam()) {
    if (s.beam_size % g.num_beam_groups == 0)
      s.beam_groups = static_cast<std::int32_t>(g.num_beam_groups);
    else
      spdlog::warn("generation_config.json asks for {} groups, which do not divide a beam of {}: it is one group",
                   g.num_beam_groups, s.beam_size);
  }
  if (o.diversity_penalty && s.beam_groups == 1)
    fail_usage("--diversity-penalty", "there are no groups that could differ", "pass --beam-groups 2 or more");
  if (s.beam_groups > 1) s.diversity_penalty = o.diversity_penalty.value_or(g.diversity_penalty.value_or(0.5));
}

// Tokens that the directory names.
void check_ids(const model::GenerationConfig& g, const model::Model& m, const std::string& directory) {
  const auto known = [&](std::int32_t id, const char* key) {
    if (id >= m.vocab_size())
      fail(directory + "/generation_config.json",
           fmt::format("{}: there is no token {}, the vocabulary has {}", key, id, m.vocab_size()), "take it out");
  };
  for (const std::int32_t id : g.eos_token_ids) known(id, "eos_token_id");
  for (const std::int32_t id : g.suppress_tokens) known(id, "suppress_tokens");
  for (const std::int32_t id : g.begin_suppress_tokens) known(id, "begin_suppress_tokens");
  for (const auto& word : g.bad_words_ids)
    for (const std::int32_t id : word) known(id, "bad_words_ids");
  known(g.forced_bos_token_id.value_or(0), "forced_bos_token_id");
  known(g.forced_eos_token_id.value_or(0), "forced_eos_token_id");
}

}  // namespace

search::SearchOptions search_options(const DecodingOptions& o, const model::GenerationConfig& g, const model::Model& m,
                                     const Tokenizer& tokenizer, const std::string& n_best_flag) {
  search::SearchOptions s;
  s.sampling = sampling_options(o, g);
  s.beam_size = static_cast<std::int32_t>(s.sampling.on ? 1 : o.beam_size.value_or(g.num_beams.value_or(1)));
  s.n_best = static_cast<std::int32_t>(o.n_best);
  s.alternatives = o.alternatives;
  s.min_alternative_prob = o.min_alternative_prob.value_or(0);
  if (o.min_alternative_prob && !o.alternatives)
    fail_usage("--min-alternative-prob", "there are no alternatives", "pass --alternatives");
  if (s.n_best > s.beam_size && !s.sampling.on && !s.alternatives)
    fail_usage(n_best_flag, fmt::format("{} hypotheses need a beam of as many, it is {}", s.n_best, s.beam_size),
               fmt::format("pass -b {}, or draw them: --sampling", s.n_best));
  s.length_penalty = o.length_penalty.value_or(g.length_penalty.value_or(1));
  const std::string stop = o.early_stopping.value_or(g.early_stopping.value_or("false"));
  for (const auto& [name, value] : search::early_stopping_names())
    if (name == stop) s.early_stopping = value;
  s.patience = o.patience.value_or(1);
  if (!s.has_beam() && (o.patience || o.early_stopping))
    fail_usage(o.patience ? "--patience" : "--early-stopping", "there is no beam that it could end",
               "pass -b 2 or more");
  s.time_limit = o.time_limit;
  set_groups(o, g, s);

  check_ids(g, m, o.model);
  s.eos_ids = g.eos_token_ids;
  if (s.eos_ids.empty() && m.special_ids().eos >= 0) s.eos_ids = {m.special_ids().eos};
  s.forced_bos_id = g.forced_bos_token_id.value_or(-1);
  s.forced_eos_id = g.forced_eos_token_id.value_or(-1);
  s.bad_words = g.bad_words_ids;
  for (const std::string& text : o.bad_words) search::forbid(text, tokenizer, "--bad-words", s.bad_words);
  s.suppress_ids = g.suppress_tokens;
  search::add_biases(o.logit_bias, tokenizer, "--logit-bias", s);
  s.begin_suppress_ids = g.begin_suppress_tokens;
  s.no_repeat_ngram = static_cast<std::int32_t>(o.no_repeat_ngram.value_or(g.no_repeat_ngram_size));
  s.repetition_penalty = o.repetition_penalty.value_or(g.repetition_penalty);
  s.presence_penalty = o.presence_penalty;
  s.frequency_penalty = o.frequency_penalty;
  s.renormalize = g.renormalize_logits;
  return s;
}

bool keeps_int8(const DecodingOptions& o, const model::Model& m) {
  if (o.cache_precision) return *o.cache_precision == "int8";
  if (m.is_linear() || o.no_cache) return false;
  const nn::Precision weights = m.parameters().precision();
  return weights == nn::Precision::int8 || weights == nn::Precision::int4;
}

namespace {

void set_batches(const DecodingOptions& o, const model::Model& m, search::ParallelOptions& p) {
  p.batch_size = static_cast<std::int32_t>(o.batch_size);
  p.threads = thread_count(o.threads);
  p.cache.use = !o.no_cache;
  p.cache.kept = {.precision = keeps_int8(o, m) ? nn::KvCache::Precision::int8 : nn::KvCache::Precision::fp32,
                  .window = static_cast<std::int32_t>(o.attention_window),
                  .sinks = static_cast<std::int32_t>(o.attention_sinks)};
  p.cache.prompt_chunk = static_cast<std::int32_t>(o.prompt_chunk);
  if (o.attention_sinks > 0 && o.attention_window == 0)
    fail_usage("--attention-sinks", "without a window every token stays in sight", "pass --attention-window too");
  if (o.no_cache && o.cache_precision && *o.cache_precision != "fp32")
    fail_usage("--cache-precision", "with --no-cache there is none", "leave one of them out");
}

// A least length that no output can have.
void check_positions(const std::optional<std::int64_t>& least, const model::Model& m, const std::string& flag) {
  check(!least || m.max_positions() == 0 || *least <= m.max_positions(), flag, "{} is above the model's {} positions",
        least.value_or(0), m.max_positions());
}

}  // namespace

namespace {

// A greatest length below the model's positions is what its publisher wishes; one of all positions says how far it goes.
bool wishes_length(const model::GenerationConfig& g, const model::Model& m) {
  return g.max_new_tokens || (g.max_length && (m.max_positions() == 0 || *g.max_length < m.max_positions()));
}

// The directory's lengths count the decoder's start where they are not of new tokens, and what is given behind it, as
// `transformers` counts them; the options count neither.
void set_lengths(const DecodingOptions& o, const model::GenerationConfig& g, const model::Model& m,
                 search::TranslatorOptions& t) {
  using search::Counted;
  const auto without_start = [](std::optional<std::int64_t> length, std::int64_t least) {
    return length ? std::optional(std::max(least, *length - 1)) : std::nullopt;
  };
  const auto counted = [](bool by_option, bool is_new) {
    return by_option ? Counted::output : is_new ? Counted::first : Counted::all;
  };
  const std::int64_t published_max = g.max_new_tokens.value_or(without_start(g.max_length, 1).value_or(512));
  const std::int64_t published_min = g.min_new_tokens.value_or(without_start(g.min_length, 0).value_or(0));
  check_positions(o.min_length, m, "--min-length");
  if (!o.min_length && m.max_positions() > 0 && published_min > m.max_positions())
    spdlog::warn("{}: generation_config.json asks for at least {} tokens, but the model has {} positions", o.model,
                 published_min, m.max_positions());
  t.min_length = static_cast<std::int32_t>(o.min_length.value_or(published_min));
  t.min_counts = counted(o.min_length.has_value(), g.min_new_tokens.has_value());
  t.min_raises_max = o.min_length || !(g.max_length || g.max_new_tokens);
  if (!o.min_length && !o.max_length && !t.min_raises_max && published_min > published_max) {
    spdlog::warn("{}: generation_config.json asks for at least {} tokens and at most {}: {} is obeyed", o.model,
                 published_min, published_max, published_max);
    t.min_length = static_cast<std::int32_t>(published_max);
  }
  t.max_length =
      static_cast<std::int32_t>(o.max_length.value_or(std::max<std::int64_t>({published_max, t.min_length, 1})));
  t.max_counts = counted(o.max_length || !(g.max_new_tokens || g.max_length), g.max_new_tokens.has_value());
  check(t.min_length <= t.max_length, "--min-length", "{} is above the longest output of {}", t.min_length,
        t.max_length);
  t.max_length_factor = o.max_length_factor.value_or(wishes_length(g, m) ? 0 : default_max_length_factor);
}

}  // namespace

search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m, const Tokenizer& tokenizer) {
  search::TranslatorOptions t;
  t.decoding.search = search_options(o, g, m, tokenizer, "--n-best");
  set_lengths(o, g, m, t);

  set_batches(o, m, t.decoding);
  return t;
}

model::GenerationConfig published_generation(const std::string& model) {
  model::GenerationConfig published = model::load_generation_config(model);
  for (const std::string& key : published.not_obeyed)
    spdlog::warn("{}: generation_config.json asks for {}, which is left out", model, key);
  return published;
}

search::GeneratorOptions generator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                           const model::Model& m, const Tokenizer& tokenizer) {
  search::GeneratorOptions t;
  t.decoding.search = search_options(o, g, m, tokenizer, "--n");
  const auto narrow = [](std::optional<std::int64_t> n) {
    return n ? std::optional(static_cast<std::int32_t>(*n)) : std::nullopt;
  };
  t.max_new_tokens = narrow(o.max_new_tokens ? o.max_new_tokens : g.max_new_tokens);
  if (t.max_new_tokens == 0) t.max_new_tokens.reset();  // no text at all is nobody's wish
  t.max_length = narrow(g.max_length);
  t.min_new_tokens = narrow(o.min_new_tokens ? o.min_new_tokens : g.min_new_tokens);
  t.min_length = narrow(g.min_length).value_or(0);
  check_positions(o.min_new_tokens, m, "--min-new-tokens");
  if (o.max_new_tokens && o.min_new_tokens)
    check(*o.min_new_tokens <= *o.max_new_tokens, "--min-new-tokens", "{} is above --max-new-tokens {}",
          *o.min_new_tokens, *o.max_new_tokens);
  for (const std::string& stop : o.stops) check(!stop.empty(), "--stop", "an empty text would end everything at once");
  t.stops = o.stops;
  set_batches(o, m, t.decoding);
  return t;
}

}  // namespace tril::cli
