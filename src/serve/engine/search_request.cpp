#include "serve/engine/search_request.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "decode/texts/bad_words.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

constexpr std::int64_t most_beam = 64;

}  // namespace

void add_search_fields(Fields& f, SearchRequest& r, bool translates) {
  f.add("beam-size", &r.beam_size, "hypotheses followed at a time; 1 is greedy").at_least(1).at_most(most_beam);
  f.add("length-penalty", &r.length_penalty, "a hypothesis of n tokens scores log p / n^A")
      .at_least(-search::largest_length_penalty)
      .at_most(search::largest_length_penalty);
  f.add("early-stopping", &r.early_stopping, "when a beam search ends though it could go on")
      .choices({"false", "true", "never"});
  f.add("patience", &r.patience, "a beam search is after P times as many finished hypotheses as the beam holds")
      .above(0)
      .at_most(100);
  f.add("beam-groups", &r.beam_groups, "groups of the beam that each look for what the others have not")
      .at_least(1)
      .at_most(most_beam);
  f.add("diversity-penalty", &r.diversity_penalty, "what a group pays for a token that others chose")
      .at_least(0)
      .at_most(1000);
  if (translates) {
    f.add("coverage-penalty", &r.coverage_penalty, "scores lose so much by source tokens that got little attention")
        .at_least(0)
        .at_most(1000);
    f.add("branch", &r.branch, "the best one behind each of the likeliest next tokens, instead of the best ones");
    f.add("min-branch-probability", &r.min_branch_probability, "of a next token that begins one")
        .at_least(0)
        .at_most(0.999);
  }
  f.add("temperature", &r.temperature, "above 0 tokens are drawn, logits divided by it; 0: the likeliest")
      .at_least(0)
      .at_most(100);
  f.add("top-k", &r.top_k,
        std::string("draw from the K likeliest tokens; 0: from all; unset: as the model's directory says, or ") +
            (translates ? "50" : "from all"))
      .at_least(-1)
      .at_most(1'000'000'000);
  f.add("top-p", &r.top_p, "draw from the fewest tokens that together have this probability").at_least(0).at_most(1);
  f.add("min-p", &r.min_p, "draw from tokens of this share of the likeliest one's probability").at_least(0).at_most(1);
  f.add("typical-p", &r.typical_p, "draw from the tokens that say about as much as is to be expected")
      .above(0)
      .at_most(1);
  f.add("seed", &r.seed,
        std::string("of what is drawn: the same seed, model and fields give the same text") +
            (translates ? "" : ", as tril generate --seed does with the same options") +
            "; unset: another one each time");
  f.add("repetition-penalty", &r.repetition_penalty, "logits of tokens that were there are divided by it")
      .above(0)
      .at_most(1000);
  f.add("presence-penalty", &r.presence_penalty, "taken off the logit of every token generated before")
      .at_least(-100)
      .at_most(100);
  f.add("frequency-penalty", &r.frequency_penalty, "taken off it for each time that it was generated")
      .at_least(-100)
      .at_most(100);
  f.add("no-repeat-ngram", &r.no_repeat_ngram, "no N tokens in a row come twice; 0: they may")
      .at_least(0)
      .at_most(10'000);
  f.add("bad-words", &r.bad_words, "texts that never come");
}

search::SearchOptions search_options(const SearchRequest& r, const search::SearchOptions& served, std::int64_t n,
                                     const Tokenizer& tokenizer) {
  search::SearchOptions s = served;
  // How tokens are chosen: by what the request says, else as it is served.
  const bool drawn =
      r.temperature.value_or(0) > 0 || (!r.temperature && (r.top_k || r.top_p || r.min_p || r.typical_p));
  const bool beamed = r.beam_size.value_or(1) > 1 || r.branch;
  if (drawn && beamed)
    throw HttpError(400, "a beam follows the likeliest tokens, a temperature draws others", "temperature");
  if (r.temperature == 0.0 || beamed) s.sampling.on = false;
  if (drawn) s.sampling.on = true, s.beam_size = 1, s.beam_groups = 1, s.diversity_penalty = 0;
  if (s.sampling.on) {
    if (r.temperature) s.sampling.temperature = *r.temperature;
    if (r.top_k) s.sampling.top_k = static_cast<std::int32_t>(std::max<std::int64_t>(0, *r.top_k));
    if (r.top_p) s.sampling.top_p = *r.top_p;
    if (r.min_p) s.sampling.min_p = *r.min_p;
    if (r.typical_p) s.sampling.typical_p = *r.typical_p;
    s.sampling.seed = r.seed ? static_cast<std::uint64_t>(*r.seed)
                             : (std::uint64_t{std::random_device()()} << 32 | std::random_device()());
  }
  if (r.beam_size) {
    s.beam_size = static_cast<std::int32_t>(*r.beam_size);
    if (s.beam_size % s.beam_groups != 0) s.beam_groups = 1, s.diversity_penalty = 0;
  }
  if (r.beam_groups) s.beam_groups = static_cast<std::int32_t>(*r.beam_groups);
  if (s.beam_groups > 1)
    s.diversity_penalty = r.diversity_penalty.value_or(s.diversity_penalty > 0 ? s.diversity_penalty : 0.5);
  s.alternatives = r.branch;
  s.min_alternative_prob = r.min_branch_probability.value_or(0);
  s.n_best = static_cast<std::int32_t>(n);
  // Who asks for several gets a beam that has them.
  if (!s.sampling.on && !s.alternatives && s.beam_size < s.n_best) {
    if (r.beam_size)
      throw HttpError(400, fmt::format("{} hypotheses need a beam of as many, it is {}", n, s.beam_size), "beam_size");
    s.beam_size = s.n_best, s.beam_groups = 1, s.diversity_penalty = 0;
  }
  if (r.length_penalty) s.length_penalty = *r.length_penalty;
  if (r.patience) s.patience = *r.patience;
  for (const auto& [name, value] : search::early_stopping_names())
    if (r.early_stopping == name) s.early_stopping = value;
  if (r.repetition_penalty) s.repetition_penalty = *r.repetition_penalty;
  if (r.presence_penalty) s.presence_penalty = *r.presence_penalty;
  if (r.frequency_penalty) s.frequency_penalty = *r.frequency_penalty;
  if (r.no_repeat_ngram) s.no_repeat_ngram = static_cast<std::int32_t>(*r.no_repeat_ngram);
  if (r.coverage_penalty) s.coverage_penalty = *r.coverage_penalty;
  if (s.coverage_penalty > 0) s.attention.on = true;
  for (const std::string& text : r.bad_words) search::forbid(text, tokenizer, "bad_words", s.bad_words);
  return s;
}

}  // namespace tril::serve
