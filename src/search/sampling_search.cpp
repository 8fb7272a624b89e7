#include "search/sampling_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "search/attention_trail.h"
#include "search/candidates.h"
#include "search/search_observer.h"

namespace tril::search {

void SamplingSearch::begin(const Request& request) {
  check_lengths(request);
  request_ = request;
  forked_ = false;
  added_.clear();
  rows_.assign(1, {0, 0});
  samples_.resize(options_->n_best);
  for (Sample& s : samples_) {
    s.log_prob = 0;
    s.attention.clear();
    s.token_scores.clear();
    s.tokens.assign(1, request.start_id);
    s.tokens.insert(s.tokens.end(), request.prefix.begin(), request.prefix.end());
  }
  if (request_.observer) request_.observer->begin(request_);
}

RowView SamplingSearch::view(std::int32_t row) const {
  const std::int32_t number = rows_[row].sample;
  return {samples_[sample(row)].tokens, &request_, number, forked_ ? 1 : options_->n_best};
}

void SamplingSearch::advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) {
  check(!done() && k >= 1 && candidates.size() == rows_.size() * k, "SamplingSearch", "{} candidates for {} rows of {}",
        candidates.size(), rows_.size(), k);
  added_.clear();
  next_rows_.clear();
  const std::size_t source = seen.attention.size() / rows_.size();
  const std::size_t tops = seen.likeliest.size() / rows_.size();
  const auto add_token = [&](std::size_t sample, std::size_t row, const Candidate& candidate) {
    if (candidate.log_prob > -INFINITY) {
      const auto weights = seen.attention.subspan(row * source, source);
      samples_[sample].attention.insert(samples_[sample].attention.end(), weights.begin(), weights.end());
      if (options_->top_log_probs >= 0) {
        const auto likeliest = seen.likeliest.subspan(row * tops, tops);
        samples_[sample].token_scores.push_back({candidate.log_prob, {likeliest.begin(), likeliest.end()}});
      }
    }
    if (extend(sample, candidate))
      next_rows_.push_back({static_cast<std::int32_t>(sample), static_cast<std::int32_t>(row)});
    note(static_cast<std::int32_t>(row));
  };
  if (forked_)
    for (std::size_t row = 0; row < rows_.size(); ++row)
      add_token(sample(static_cast<std::int32_t>(row)), row, candidates[row * k]);
  else
    for (std::size_t s = 0; s < samples_.size(); ++s) add_token(s, 0, candidates[s]);
  forked_ = true;
  if (request_.observer) {
    show(*request_.observer, seen.observed, rows());
    request_.observer->advance();
  }
  rows_.swap(next_rows_);
}

void SamplingSearch::note(std::int32_t row) const {
  if (!request_.observer) return;
  const Added& a = added_.back();
  const Sample& s = samples_[static_cast<std::size_t>(a.sample)];
  if (a.token < 0) return request_.observer->end(row, score_of(s), s.stop_reason);
  request_.observer->choose({.row = row,
                             .token = a.token,
                             .fate = a.ended ? Fate::finished : Fate::living,
                             .log_prob = static_cast<double>(a.log_prob),
                             .sum = s.log_prob,
                             .rank_sum = s.log_prob,
                             .score = a.ended ? score_of(s) : 0,
                             .stop_reason = s.stop_reason});
}

double SamplingSearch::score_of(const Sample& s) const {
  const std::size_t length = s.tokens.size() - 1 - request_.prefix.size();
  return normalized(options_->scores ? s.log_prob : 0, std::max<std::int32_t>(1, static_cast<std::int32_t>(length)),
                    options_->length_penalty) +
         coverage_penalty(s.attention, length, options_->coverage_penalty);
}

void SamplingSearch::cut(StopReason why) {
  added_.clear();
  const auto end = [&](std::size_t sample, std::int32_t row) {
    samples_[sample].stop_reason = why;
    added_.push_back({static_cast<std::int32_t>(sample), -1, true});
    note(row);
  };
  if (forked_)
    for (std::int32_t row = 0; row < rows(); ++row) end(sample(row), row);
  else
    for (std::size_t s = 0; s < samples_.size(); ++s) end(s, 0);
  rows_.clear();
}

// Returns true if the sample continues after the token.
bool SamplingSearch::extend(std::size_t sample, const Candidate& candidate) {
  Sample& s = samples_[sample];
  check_number(candidate.log_prob);
  if (candidate.log_prob == -INFINITY) {
    s.stop_reason = StopReason::dead_end;
    added_.push_back({static_cast<std::int32_t>(sample), -1, true});
    return false;
  }
  s.tokens.push_back(candidate.token);
  s.log_prob += static_cast<double>(candidate.log_prob);
  const std::span<const std::int32_t> all = s.tokens;
  const auto given = all.first(1 + request_.prefix.size()), text = all.subspan(given.size());
  const auto length = static_cast<std::int32_t>(text.size());
  bool ended = true;
  if (is_eos(*options_, candidate.token))
    s.stop_reason = StopReason::end_token;
  else if (length == request_.max_length)
    s.stop_reason = StopReason::length;
  else if (options_->ends && options_->ends(given, text))
    s.stop_reason = StopReason::stop;
  else
    ended = false;
  added_.push_back({static_cast<std::int32_t>(sample), candidate.token, ended, candidate.log_prob,
                    s.token_scores.empty() ? nullptr : &s.token_scores.back()});
  return !ended;
}

std::vector<Hypothesis> SamplingSearch::hypotheses() const {
  std::vector<Hypothesis> list;
  for (const Sample& s : samples_) {
    const auto text = s.tokens.begin() + 1 + static_cast<std::ptrdiff_t>(request_.prefix.size());
    Hypothesis h{{text, s.tokens.end()}, options_->scores ? s.log_prob : 0, score_of(s)};
    h.attention = s.attention;
    h.token_scores = s.token_scores;
    h.stop_reason = s.stop_reason;
    list.push_back(std::move(h));
  }
  return list;
}

}  // namespace tril::search
