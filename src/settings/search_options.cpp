#include "settings/search_options.h"

#include <utility>

#include "base/error.h"
#include "settings/early_stopping.h"

namespace tril {

std::string_view SearchOptions::narrows() const {
  if (top_k) return "top_k";
  if (top_p) return "top_p";
  if (min_p) return "min_p";
  if (typical_p) return "typical_p";
  return {};
}

void settle_sampling(SearchOptions& o) {
  const std::string_view drawing = !o.narrows().empty() ? o.narrows() : o.sampling ? "sampling" : "temperature";
  const bool implied = o.temperature.value_or(0) > 0 || (!o.temperature && !o.narrows().empty());
  const bool draws = o.sampling.value_or(implied);
  if (draws && o.asks_for_beam())
    fail_usage(o.alternatives.value_or(false) ? "alternatives" : "beam_size",
               fmt::format("cannot be combined with `{}`: a beam search follows the likeliest tokens", drawing),
               "leave one of them out");
  if (o.sampling.value_or(false) && o.temperature == 0.0)
    fail_usage("temperature", "0 always takes the likeliest token, so there is nothing to sample",
               "pass a `temperature` above 0, or leave `sampling` out");
  if (draws) o.sampling = true;
  if (o.temperature == 0.0 || o.asks_for_beam()) o.sampling = false;
}

namespace {

template <class T>
void take(std::optional<T>& lower, const std::optional<T>& upper) {
  if (upper) lower = upper;
}

// Resets the options that apply to beam search but not to sampling.
void drop_beam(SearchOptions& o) {
  o.beam_size.reset(), o.beam_groups.reset(), o.diversity_penalty.reset();
  o.alternatives.reset(), o.min_alternative_prob.reset();
}

}  // namespace

SearchOptions overlay(SearchOptions lower, const SearchOptions& upper) {
  SearchOptions& o = lower;
  if (upper.sampling.value_or(false)) {
    drop_beam(o);
    if (o.temperature == 0.0) o.temperature.reset();  // "no sampling", which the upper options override
  }
  if (upper.alternatives.value_or(false) ||
      (upper.beam_size && o.beam_groups && *upper.beam_size % *o.beam_groups != 0 && !upper.beam_groups))
    o.beam_groups.reset(), o.diversity_penalty.reset();
  o.n_best = upper.n_best;
  take(o.beam_size, upper.beam_size);
  take(o.beam_groups, upper.beam_groups);
  take(o.length_penalty, upper.length_penalty);
  take(o.patience, upper.patience);
  take(o.diversity_penalty, upper.diversity_penalty);
  take(o.coverage_penalty, upper.coverage_penalty);
  take(o.early_stopping, upper.early_stopping);
  take(o.alternatives, upper.alternatives);
  take(o.min_alternative_prob, upper.min_alternative_prob);
  take(o.sampling, upper.sampling);
  take(o.temperature, upper.temperature);
  take(o.top_k, upper.top_k);
  take(o.top_p, upper.top_p);
  take(o.min_p, upper.min_p);
  take(o.typical_p, upper.typical_p);
  take(o.seed, upper.seed);
  take(o.repetition_penalty, upper.repetition_penalty);
  take(o.presence_penalty, upper.presence_penalty);
  take(o.frequency_penalty, upper.frequency_penalty);
  take(o.no_repeat_ngram, upper.no_repeat_ngram);
  take(o.encoder_no_repeat_ngram, upper.encoder_no_repeat_ngram);
  take(o.min_length, upper.min_length);
  take(o.max_length, upper.max_length);
  take(o.max_length_factor, upper.max_length_factor);
  take(o.min_new_tokens, upper.min_new_tokens);
  take(o.max_new_tokens, upper.max_new_tokens);
  if (upper.time_limit > 0) o.time_limit = upper.time_limit;
  o.bad_words.insert(o.bad_words.end(), upper.bad_words.begin(), upper.bad_words.end());
  o.stops.insert(o.stops.end(), upper.stops.begin(), upper.stops.end());
  return lower;
}

void add_beam_fields(Fields& f, SearchOptions& o, const UnsetText& unset) {
  f.add("beam-size", &o.beam_size, "hypotheses kept at each decode step; 1 is greedy search" + unset("beam-size", "1"))
      .within(limits::beam_size);
  f.add("length-penalty", &o.length_penalty,
        "a hypothesis of n tokens scores log p / n^A" + unset("length-penalty", "1"))
      .value_name("A")
      .within(limits::length_penalty);
  std::vector<std::string> choices;
  for (const auto& [name, value] : early_stopping_names) choices.emplace_back(name);
  f.add("early-stopping", &o.early_stopping,
        "end a beam search once beam_size hypotheses are finished (true), when better ones are unlikely (false), or "
        "when better ones are impossible (never)" +
            unset("early-stopping", "false"))
      .choices(std::move(choices))
      .value_name("WHEN");
  f.add("patience", &o.patience, "a beam search stops after P x beam_size finished hypotheses" + unset("patience", "1"))
      .value_name("P")
      .within(limits::patience);
  f.add("beam-groups", &o.beam_groups,
        "diverse beam search: divide the beam into G groups, each of which avoids what earlier groups found" +
            unset("beam-groups", "1"))
      .value_name("G")
      .within(limits::beam_size);
  f.add("diversity-penalty", &o.diversity_penalty,
        "subtracted from a token's log-probability for each hypothesis of an earlier group that has it at the same "
        "position" +
            unset("diversity-penalty", "0.5 with several groups"))
      .value_name("X")
      .within(limits::diversity_penalty);
}

void add_alternative_fields(Fields& f, SearchOptions& o, std::string name, std::string probability) {
  f.add(std::move(name), &o.alternatives,
        "return the best hypothesis for each of the likeliest first tokens, instead of the best hypotheses overall");
  f.add(std::move(probability), &o.min_alternative_prob,
        "start alternatives only from first tokens of at least probability P")
      .value_name("P")
      .within(limits::probability);
}

void add_coverage_field(Fields& f, SearchOptions& o) {
  f.add("coverage-penalty", &o.coverage_penalty,
        "add B times the sum over source tokens of log(min(their attention, 1)) to the scores of finished hypotheses; "
        "0: off")
      .value_name("B")
      .within(limits::coverage_penalty);
}

void add_sampling_fields(Fields& f, SearchOptions& o, const UnsetText& unset) {
  f.add("temperature", &o.temperature,
        "divide logits by T before tokens are drawn: below 1 sharper, above 1 flatter; 0: take the likeliest token" +
            unset("temperature", "1"))
      .value_name("T")
      .within(limits::temperature);
  f.add("top-k", &o.top_k, "draw from the K likeliest tokens; 0 or -1: from all" + unset("top-k", "50"))
      .value_name("K")
      .within(limits::top_k);
  f.add("top-p", &o.top_p, "draw from the fewest tokens whose probabilities sum to at least P; 1: from all")
      .value_name("P")
      .within(limits::probability);
  f.add("min-p", &o.min_p, "draw from tokens at least P times as probable as the likeliest one; 0: from all")
      .value_name("P")
      .within(limits::probability);
  f.add("typical-p", &o.typical_p,
        "draw from the tokens whose information is nearest to the entropy: the fewest whose probabilities sum to at "
        "least P; 1: from all")
      .value_name("P")
      .within(limits::typical_p);
  f.add("seed", &o.seed, "seed of the random draws" + unset("seed", ""));
}

void add_penalty_fields(Fields& f, SearchOptions& o, const UnsetText& unset) {
  f.add("repetition-penalty", &o.repetition_penalty,
        "divide the logits of tokens that have already occurred, prompt included, by X (multiply if negative)" +
            unset("repetition-penalty", "1: no penalty"))
      .value_name("X")
      .within(limits::repetition_penalty);
  f.add("presence-penalty", &o.presence_penalty, "subtracted from the logit of every token already generated")
      .value_name("X")
      .within(limits::token_penalty);
  f.add("frequency-penalty", &o.frequency_penalty,
        "subtracted from a token's logit once for each time it was generated")
      .value_name("X")
      .within(limits::token_penalty);
  f.add("no-repeat-ngram", &o.no_repeat_ngram,
        "never repeat a sequence of N tokens; 0: allow repeats" + unset("no-repeat-ngram", "0"))
      .within(limits::ngram);
  f.add("encoder-no-repeat-ngram", &o.encoder_no_repeat_ngram,
        "never generate a sequence of N tokens from the source text (with a language model: from the prompt); 0: allow "
        "them" +
            unset("encoder-no-repeat-ngram", "0"))
      .within(limits::ngram);
  f.add("bad-words", &o.bad_words, "texts that are never generated, at the beginning of a word or within one")
      .value_name("TEXT");
}

void add_length_fields(Fields& f, SearchOptions& o, const UnsetText& unset) {
  f.add("min-length", &o.min_length, "minimum number of output tokens" + unset("min-length", "0"))
      .within(limits::tokens);
  f.add("max-length", &o.max_length,
        "maximum number of output tokens, including the end token" + unset("max-length", "512"))
      .within(limits::some_tokens);
  f.add("max-length-factor", &o.max_length_factor,
        "maximum output length as a multiple of the source length in tokens, plus 20; 0: no such limit" +
            unset("max-length-factor", "3"))
      .at_least(0);
}

void add_new_token_fields(Fields& f, SearchOptions& o, const UnsetText& unset) {
  f.add("max-new-tokens", &o.max_new_tokens,
        "maximum number of tokens to generate; also limited by the model's positions" + unset("max-new-tokens", "256"))
      .within(limits::some_tokens);
  f.add("min-new-tokens", &o.min_new_tokens,
        "minimum number of tokens before the end token" + unset("min-new-tokens", "0"))
      .within(limits::tokens);
  f.add("stop", &o.stops, "stop strings: generation ends before them").value_name("TEXT");
}

}  // namespace tril
