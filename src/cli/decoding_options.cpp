#include "cli/decoding_options.h"

#include <algorithm>

#include "search/parallel.h"

namespace tril::cli {

void add_model_fields(Fields& f, DecodingOptions& o) {
  f.add("model", &o.model, "the model's directory, as Hugging Face lays it out")
      .letter('m')
      .value_name("DIR")
      .required();
  f.add("precision", &o.precision, "numbers to compute with").choices({"fp32"}).value_name("NAME");
  f.add("threads", &o.threads, "cores to use, a worker each; 0 takes all").at_least(0).at_most(4096);
}

void add_search_fields(Fields& f, DecodingOptions& o) {
  f.add("beam-size", &o.beam_size,
        "hypotheses followed at a time, 1 is greedy; unset: as the model's directory says, or 4")
      .letter('b')
      .at_least(1)
      .at_most(1000);
  f.add("length-penalty", &o.length_penalty,
        "a hypothesis of n tokens scores log p / n^A; unset: as the model's directory says, or 1")
      .value_name("A");
  f.add("early-stopping", &o.early_stopping,
        "end a beam search once it has a beam of finished hypotheses (true), when better ones are unlikely (false) or "
        "impossible (never); unset: as the model's directory says, or false")
      .choices({"false", "true", "never"})
      .value_name("WHEN");
  f.add("min-length", &o.min_length, "tokens of output at least; unset: as the model's directory says, or 0")
      .at_least(0)
      .at_most(1'000'000);
  f.add("max-length", &o.max_length,
        "tokens of output at most, the end token counted; unset: as the model's directory says, or 512")
      .at_least(1)
      .at_most(1'000'000);
  f.add("max-length-factor", &o.max_length_factor,
        "tokens of output at most, as a multiple of the source's tokens, plus 20; 0: no such bound")
      .at_least(0);
  f.add("batch-size", &o.batch_size, "sentences that a worker decodes together").at_least(1).at_most(100'000);
  f.add("no-cache", &o.no_cache, "compute every step from the beginning: slow, the same result, for checks");
}

search::TranslatorOptions translator_options(const DecodingOptions& o, const model::GenerationConfig& g,
                                             const model::Model& m) {
  search::TranslatorOptions t;
  search::SearchOptions& s = t.decoding.search;
  s.beam_size = static_cast<std::int32_t>(o.beam_size.value_or(g.num_beams.value_or(4)));
  s.n_best = static_cast<std::int32_t>(o.n_best);
  if (s.n_best > s.beam_size)
    fail_usage("--n-best", fmt::format("{} hypotheses need a beam of as many, it is {}", s.n_best, s.beam_size),
               fmt::format("pass -b {}", s.n_best));
  s.length_penalty = o.length_penalty.value_or(g.length_penalty.value_or(1));
  const std::string stop = o.early_stopping.value_or(g.early_stopping.value_or("false"));
  for (const auto& [name, value] : search::early_stopping_names())
    if (name == stop) s.early_stopping = value;

  s.eos_ids = g.eos_token_ids;
  if (s.eos_ids.empty() && m.special_ids().eos >= 0) s.eos_ids = {m.special_ids().eos};
  s.forced_bos_id = g.forced_bos_token_id.value_or(-1);
  s.forced_eos_id = g.forced_eos_token_id.value_or(-1);
  s.bad_words = g.bad_words_ids;
  s.suppress_ids = g.suppress_tokens;
  s.begin_suppress_ids = g.begin_suppress_tokens;
  s.no_repeat_ngram = static_cast<std::int32_t>(g.no_repeat_ngram_size);
  s.renormalize = g.renormalize_logits;

  // The file counts the start token where it does not say "new".
  const auto without_start = [](std::optional<std::int64_t> length, std::int64_t least) {
    return length ? std::optional(std::max(least, *length - 1)) : std::nullopt;
  };
  const std::int64_t published_max = g.max_new_tokens.value_or(without_start(g.max_length, 1).value_or(512));
  const std::int64_t published_min = g.min_new_tokens.value_or(without_start(g.min_length, 0).value_or(0));
  t.min_length = static_cast<std::int32_t>(o.min_length.value_or(published_min));
  t.max_length =
      static_cast<std::int32_t>(o.max_length.value_or(std::max<std::int64_t>({published_max, t.min_length, 1})));
  check(t.min_length <= t.max_length, "--min-length", "{} is above the longest output of {}", t.min_length,
        t.max_length);
  t.max_length_factor = o.max_length_factor;

  t.decoding.batch_size = static_cast<std::int32_t>(o.batch_size);
  t.decoding.threads = search::thread_count(o.threads);
  t.decoding.use_cache = !o.no_cache;
  return t;
}

}  // namespace tril::cli
