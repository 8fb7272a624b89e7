#include "search/options.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "grammar/automata/constraint.h"

namespace tril::search {
namespace {

void check_id(std::int32_t id, std::int64_t vocab_size, std::string_view what) {
  check(id >= 0 && id < vocab_size, what, "id {} is outside the vocabulary of {}", id, vocab_size);
}

void check_sampling(const SamplingOptions& s) {
  const auto share = [](double p, std::string_view what) {
    check(p >= 0 && p <= 1, what, "expected a number from 0 to 1, got {}", p);
  };
  check(s.temperature > 0 && std::isfinite(s.temperature), "temperature", "expected a number above 0, got {}",
        s.temperature);
  check(s.top_k >= 0, "top-k", "expected at least 0, got {}", s.top_k);
  share(s.top_p, "top-p");
  share(s.min_p, "min-p");
  check(s.typical_p > 0 && s.typical_p <= 1, "typical-p", "expected a number above 0 and up to 1, got {}", s.typical_p);
}

void check_beam(const SearchOptions& o) {
  check(o.patience > 0 && o.patience <= 1000, "patience", "expected a number above 0, got {}", o.patience);
  check(o.beam_groups >= 1 && o.beam_size % o.beam_groups == 0, "beam groups",
        "expected a divisor of the beam size of {}, got {}", o.beam_size, o.beam_groups);
  check(o.diversity_penalty >= 0 && std::isfinite(o.diversity_penalty), "diversity penalty",
        "expected a number of at least 0, got {}", o.diversity_penalty);
  check(o.diversity_penalty == 0 || o.beam_groups > 1, "diversity penalty",
        "has no effect within one beam, it goes with groups of beams");
  check(o.min_alternative_prob >= 0 && o.min_alternative_prob <= 1, "probability of alternatives",
        "expected a number from 0 to 1, got {}", o.min_alternative_prob);
  if (o.alternatives) {
    check(o.beam_groups == 1, "alternatives", "have a beam each, which cannot be divided into groups");
    check(!o.sampling.on, "alternatives", "go on by what is likeliest, they cannot be drawn");
  } else if (o.beam_size > 1) {
    check(o.n_best <= o.pool_size() * o.beam_groups, "patience", "a search after {} finished hypotheses has no {} best",
          o.pool_size() * o.beam_groups, o.n_best);
  }
}

void check_constraint(const SearchOptions& o, std::int64_t vocab_size) {
  check(o.constraint->vocab_size() <= vocab_size, "constraint", "is of {} tokens, the vocabulary has {}",
        o.constraint->vocab_size(), vocab_size);
  check(!o.shortlist, "constraint", "a shortlist may lack the tokens that it calls for");
  check(o.forced_bos_id == -1, "constraint", "the model's first token is another's to choose (forced BOS {})",
        o.forced_bos_id);
  check(!o.ends, "constraint", "a text that something else ends may be none that it allows");
}

}  // namespace

std::string_view name_of(Cut cut) {
  switch (cut) {
    case Cut::no:
      return "";
    case Cut::dead_end:
      return "dead_end";
    case Cut::time_limit:
      return "time_limit";
    case Cut::cancelled:
      return "cancelled";
  }
  return "";
}

std::int32_t SearchOptions::pool_size() const {
  return std::max(1, static_cast<std::int32_t>(std::lround(beam_size / beam_groups * patience)));
}

void check_options(const SearchOptions& o, std::int64_t vocab_size) {
  check(o.beam_size >= 1, "beam size", "expected at least 1, got {}", o.beam_size);
  check(o.n_best >= 1 && (o.n_best <= o.beam_size || o.sampling.on || o.alternatives), "n-best",
        "expected 1 to the beam size of {}, got {}", o.beam_size, o.n_best);
  check_beam(o);
  check(!o.sampling.on || o.beam_size == 1, "sampling", "goes without a beam, and the beam size is {}", o.beam_size);
  if (o.sampling.on) check_sampling(o.sampling);
  check(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "repetition penalty",
        "expected a number above 0, got {}", o.repetition_penalty);
  check(std::isfinite(o.presence_penalty), "presence penalty", "expected a finite number, got {}", o.presence_penalty);
  check(std::isfinite(o.frequency_penalty), "frequency penalty", "expected a finite number, got {}",
        o.frequency_penalty);
  check(std::abs(o.length_penalty) <= largest_length_penalty, "length penalty",
        "expected a number from -{0} to {0}, got {1}", largest_length_penalty, o.length_penalty);
  check(o.time_limit >= 0 && std::isfinite(o.time_limit), "time limit", "expected at least 0 seconds, got {}",
        o.time_limit);
  check(std::isfinite(o.coverage_penalty) && o.coverage_penalty >= 0, "coverage penalty",
        "expected a number of at least 0, got {}", o.coverage_penalty);
  check(o.coverage_penalty == 0 || o.attention.on, "coverage penalty", "needs the attention, which is not kept");
  if (o.constraint) check_constraint(o, vocab_size);
  check(o.top_log_probs < 0 || (o.scores && !o.has_beam()), "log-probabilities of tokens",
        "are kept of a greedy search or of samples, with scores");
  check(o.no_repeat_ngram >= 0, "no-repeat n-gram size", "expected at least 0, got {}", o.no_repeat_ngram);
  check(o.continues_word.empty() || static_cast<std::int64_t>(o.continues_word.size()) == vocab_size,
        "continuations of words", "{} flags for a vocabulary of {}", o.continues_word.size(), vocab_size);
  check(o.begins_word.empty() || static_cast<std::int64_t>(o.begins_word.size()) == vocab_size, "beginnings of words",
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
    fail_usage("logit bias", fmt::format("names id {} twice", *twice), "add them up");
  if (o.forced_bos_id != -1) check_id(o.forced_bos_id, vocab_size, "forced BOS");
  if (o.forced_eos_id != -1) check_id(o.forced_eos_id, vocab_size, "forced EOS");
  for (const auto& word : o.bad_words) {
    check(!word.empty(), "bad words", "an empty sequence cannot be forbidden");
    for (std::int32_t id : word) check_id(id, vocab_size, "bad words");
  }
}

void check_request(const Request& request, const SearchOptions& options, std::int64_t vocab_size) {
  if (request.forced_first != -1) {
    check_id(request.forced_first, vocab_size, "forced first token");
    check(!options.constraint, "constraint", "the model's first token is another's to choose (forced {})",
          request.forced_first);
  }
  check(request.phrases.empty() || options.has_beam(), "phrases",
        "only a beam search can say where they belong, the beam size is {}", options.beam_size);
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
