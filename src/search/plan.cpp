#include "search/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "grammar/automata/constraint.h"
#include "settings/search_options.h"

namespace tril::search {
namespace {

void check_id(std::int32_t id, std::int64_t vocab_size, std::string_view what) {
  check(id >= 0 && id < vocab_size, what, "id {} is outside the vocabulary of {}", id, vocab_size);
}

void check_sampling(const SamplingOptions& s) {
  check(s.temperature > 0, "temperature", "expected a number above 0, got {}", s.temperature);
  check_range(s.temperature, limits::temperature, "temperature");
  check(s.top_k >= 0, "top_k", "expected at least 0, got {}", s.top_k);
  check_range(s.top_p, limits::probability, "top_p");
  check_range(s.min_p, limits::probability, "min_p");
  check_range(s.typical_p, limits::typical_p, "typical_p");
}

void check_beam(const SearchPlan& o) {
  check_range(o.patience, limits::patience, "patience");
  check(o.beam_groups >= 1 && o.beam_size % o.beam_groups == 0, "beam_groups",
        "expected a divisor of the beam size of {}, got {}", o.beam_size, o.beam_groups);
  check_range(o.diversity_penalty, limits::diversity_penalty, "diversity_penalty");
  check(o.diversity_penalty == 0 || o.beam_groups > 1, "diversity_penalty", "has no effect without beam groups");
  check_range(o.min_alternative_prob, limits::probability, "min_alternative_prob");
  if (o.alternatives) {
    check(o.beam_groups == 1, "alternatives", "cannot be combined with beam groups: each alternative has its own beam");
    check(!o.sampling.on, "alternatives", "cannot be combined with sampling: they continue with the likeliest tokens");
  } else if (o.beam_size > 1) {
    check(o.n_best <= o.pool_size() * o.beam_groups, "patience",
          "a search that stops after {} finished hypotheses cannot give the {} best", o.pool_size() * o.beam_groups,
          o.n_best);
  }
}

void check_constraint(const SearchPlan& o, std::int64_t vocab_size) {
  check(o.constraint->vocab_size() <= vocab_size, "constraint", "covers {} tokens, but the vocabulary has {}",
        o.constraint->vocab_size(), vocab_size);
  check(!o.shortlist, "constraint", "cannot be combined with a shortlist, which may lack the tokens it requires");
  check(o.forced_bos_id == -1, "constraint", "cannot be combined with a forced first token (forced BOS {})",
        o.forced_bos_id);
  check(!o.ends, "constraint", "cannot be combined with another way to end a text, which might then not match");
}

}  // namespace

std::int32_t SearchPlan::pool_size() const {
  const std::int32_t beams_of_group = beam_size / beam_groups;
  return std::max(1, static_cast<std::int32_t>(std::lround(beams_of_group * patience)));
}

void check_options(const SearchPlan& o, std::int64_t vocab_size) {
  check(o.beam_size >= 1, "beam_size", "expected at least 1, got {}", o.beam_size);
  check(o.n_best >= 1 && (o.n_best <= o.beam_size || o.sampling.on || o.alternatives), "n_best",
        "expected 1 to the beam size of {}, got {}", o.beam_size, o.n_best);
  check_beam(o);
  check(!o.sampling.on || o.beam_size == 1, "sampling", "needs a beam size of 1, got {}", o.beam_size);
  if (o.sampling.on) check_sampling(o.sampling);
  check_range(o.repetition_penalty, limits::repetition_penalty, "repetition_penalty");
  check_range(o.presence_penalty, limits::token_penalty, "presence_penalty");
  check_range(o.frequency_penalty, limits::token_penalty, "frequency_penalty");
  check_range(o.length_penalty, limits::length_penalty, "length_penalty");
  check_range(o.time_limit, limits::time_limit, "time_limit");
  check_range(o.coverage_penalty, limits::coverage_penalty, "coverage_penalty");
  check(o.coverage_penalty == 0 || o.attention, "coverage_penalty", "needs attention weights, which are not recorded");
  if (o.constraint) check_constraint(o, vocab_size);
  check(o.top_log_probs < 0 || (o.scores && !o.has_beam()), "log-probabilities of tokens",
        "are available only for greedy search or sampling, with scores");
  check(o.observed_tokens >= 0 && o.observed_tokens <= vocab_size, "observed tokens", "expected 0 to {}, got {}",
        vocab_size, o.observed_tokens);
  check(o.no_repeat_ngram >= 0, "no_repeat_ngram", "expected at least 0, got {}", o.no_repeat_ngram);
  check(o.encoder_no_repeat_ngram >= 0, "encoder_no_repeat_ngram", "expected at least 0, got {}",
        o.encoder_no_repeat_ngram);
  check(o.continues_word.empty() || std::ssize(o.continues_word) == vocab_size, "continuations of words",
        "{} flags for a vocabulary of {}", o.continues_word.size(), vocab_size);
  check(o.begins_word.empty() || std::ssize(o.begins_word) == vocab_size, "beginnings of words",
        "{} flags for a vocabulary of {}", o.begins_word.size(), vocab_size);
  for (std::int32_t id : o.eos_ids) check_id(id, vocab_size, "EOS");
  for (std::int32_t id : o.suppress_ids) check_id(id, vocab_size, "suppressed tokens");
  for (std::int32_t id : o.begin_suppress_ids) check_id(id, vocab_size, "tokens suppressed at the beginning");
  std::vector<std::int32_t> biased;
  for (const auto& [id, bias] : o.logit_bias) {
    check_id(id, vocab_size, "logit bias");
    check(std::isfinite(bias), "logit bias", "expected a finite number for id {}, got {}", id, bias);
    biased.push_back(id);
  }
  std::sort(biased.begin(), biased.end());
  if (const auto twice = std::adjacent_find(biased.begin(), biased.end()); twice != biased.end())
    fail_usage("logit bias", fmt::format("names id {} twice", *twice), "add the two biases");
  if (o.forced_bos_id != -1) check_id(o.forced_bos_id, vocab_size, "forced BOS");
  if (o.forced_eos_id != -1) check_id(o.forced_eos_id, vocab_size, "forced EOS");
  for (const auto& word : o.bad_words) {
    check(!word.empty(), "bad words", "an empty sequence cannot be forbidden");
    for (std::int32_t id : word) check_id(id, vocab_size, "bad words");
  }
}

void check_request(const Request& request, const SearchPlan& options, std::int64_t vocab_size) {
  if (request.forced_first != -1) {
    check_id(request.forced_first, vocab_size, "forced first token");
    check(!options.constraint, "constraint", "cannot be combined with a forced first token (forced {})",
          request.forced_first);
  }
  if (request.prediction)
    for (const std::int32_t id : *request.prediction) check_id(id, vocab_size, "prediction");
  check(request.phrases.empty() || options.has_beam(), "phrases", "need beam search, but the beam size is {}",
        options.beam_size);
  for (const auto& phrase : request.phrases)
    for (std::int32_t id : phrase) check_id(id, vocab_size, "phrases");
  if (options.constraint) options.constraint->check_room(request.max_length, !options.eos_ids.empty());
}

std::int32_t forced_first(const Request& request, std::int32_t forced_bos) {
  if (!request.prefix.empty()) return -1;
  return request.forced_first >= 0 ? request.forced_first : forced_bos;
}

double normalized(double log_prob, std::int32_t length, double length_penalty) {
  return length_penalty == 0 ? log_prob : log_prob / std::pow(static_cast<double>(length), length_penalty);
}

}  // namespace tril::search
