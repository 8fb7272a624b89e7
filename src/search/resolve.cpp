#include "search/resolve.h"

#include <algorithm>

#include "base/error.h"

namespace tril::search {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

SamplingOptions sampling_of(const SearchOptions& o) {
  SamplingOptions s;
  s.on = o.sampling.value_or(false);
  s.temperature = o.temperature.value_or(1);
  if (s.temperature == 0) s.on = false;
  s.top_k = narrow(std::max<std::int64_t>(0, o.top_k.value_or(50)));
  s.top_p = o.top_p.value_or(1);
  s.min_p = o.min_p.value_or(0);
  s.typical_p = o.typical_p.value_or(1);
  s.seed = static_cast<std::uint64_t>(o.seed.value_or(1));
  return s;
}

void set_beam(const SearchOptions& o, SearchPlan& s) {
  s.beam_size = narrow(s.sampling.on ? 1 : o.beam_size.value_or(1));
  s.alternatives = o.alternatives.value_or(false);
  s.min_alternative_prob = o.min_alternative_prob.value_or(0);
  s.length_penalty = o.length_penalty.value_or(1);
  s.patience = o.patience.value_or(1);
  s.early_stopping = EarlyStopping::no;
  for (const auto& [name, value] : early_stopping_names)
    if (o.early_stopping == name) s.early_stopping = value;
  s.beam_groups = s.has_beam() ? narrow(o.beam_groups.value_or(1)) : 1;
  if (s.beam_groups > 1 && s.beam_size % s.beam_groups != 0)
    fail_usage("beam_groups", fmt::format("a beam of {} cannot be divided by {}", s.beam_size, s.beam_groups),
               fmt::format("pass `beam_size` {}", (s.beam_size / s.beam_groups + 1) * s.beam_groups));
  s.diversity_penalty = s.beam_groups > 1 ? o.diversity_penalty.value_or(0.5) : 0;
}

}  // namespace

SearchPlan resolve(const SearchOptions& o, SearchPlan known) {
  SearchPlan& s = known;
  s.sampling = sampling_of(o);
  s.n_best = narrow(o.n_best);
  set_beam(o, s);
  if (s.n_best > s.beam_size && !s.sampling.on && !s.alternatives)
    fail_usage("n_best", fmt::format("{} hypotheses need a beam of at least that size, got {}", s.n_best, s.beam_size),
               fmt::format("pass `beam_size` {}, or `sampling` to draw them", s.n_best));
  s.coverage_penalty = o.coverage_penalty.value_or(0);
  s.repetition_penalty = o.repetition_penalty.value_or(1);
  s.presence_penalty = o.presence_penalty.value_or(0);
  s.frequency_penalty = o.frequency_penalty.value_or(0);
  s.no_repeat_ngram = narrow(o.no_repeat_ngram.value_or(0));
  s.encoder_no_repeat_ngram = narrow(o.encoder_no_repeat_ngram.value_or(0));
  s.time_limit = o.time_limit;
  return known;
}

void check_all_used(const SearchOptions& o, const SearchPlan& s) {
  if (o.temperature == 0.0 && !o.narrows().empty())
    fail_usage("temperature", fmt::format("0 always takes the likeliest token, so `{}` has no effect", o.narrows()),
               fmt::format("pass a `temperature` above 0, or leave `{}` out", o.narrows()));
  if (o.seed && !s.sampling.on)
    fail_usage("seed", "has no effect without sampling", "pass `sampling`, or a `temperature` above 0");
  if (o.min_alternative_prob && !s.alternatives)
    fail_usage("min_alternative_prob", "has no effect without alternatives", "pass `alternatives`");
  if (!s.has_beam() && (o.patience || o.early_stopping))
    fail_usage(o.patience ? "patience" : "early_stopping", "has no effect without a beam",
               "pass `beam_size` 2 or more");
  if (o.diversity_penalty && s.beam_groups == 1)
    fail_usage("diversity_penalty", "has no effect without beam groups", "pass `beam_groups` 2 or more");
  if (o.coverage_penalty.value_or(0) > 0 && !s.has_beam())
    fail_usage("coverage_penalty", "has no effect without a beam", "pass `beam_size` 2 or more");
}

}  // namespace tril::search
