#include "search/beam_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tril::search {
namespace {

bool is_eos(const SearchOptions& o, std::int32_t token) {
  return std::find(o.eos_ids.begin(), o.eos_ids.end(), token) != o.eos_ids.end();
}

void check_request(const Request& r) {
  check(r.max_length >= 1, "maximum length", "expected at least 1, got {}", r.max_length);
  check(r.min_length >= 0 && r.min_length <= r.max_length, "minimum length",
        "expected 0 to the maximum length of {}, got {}", r.max_length, r.min_length);
}

void check_number(float log_prob) {
  if (std::isnan(log_prob))
    fail("search", "the model's scores are not numbers (NaN)", "look at the weights with `tril inspect`");
}

}  // namespace

std::int32_t BeamSearch::candidates_per_row(const SearchOptions& o) {
  return std::max<std::int32_t>(2, 1 + static_cast<std::int32_t>(o.eos_ids.size())) * o.beam_size;
}

void BeamSearch::begin(const Request& request) {
  check_request(request);
  request_ = request;
  generated_ = 0;
  done_ = false;
  finished_.clear();
  running_.assign(1, Beam{0, 0, request.start_id});
  const std::size_t room = static_cast<std::size_t>(options_->beam_size) * stride();
  if (history_.size() < room) history_.resize(room), next_history_.resize(room);
  history_[0] = request.start_id;
  std::copy(request.prefix.begin(), request.prefix.end(), history_.begin() + 1);
}

std::span<const std::int32_t> BeamSearch::tokens(std::int32_t row) const {
  return std::span(history_).subspan(static_cast<std::size_t>(row) * stride(),
                                     given() + static_cast<std::size_t>(generated_));
}

void BeamSearch::advance(std::span<const Candidate> candidates, std::int32_t k) {
  check(!done_ && candidates.size() == running_.size() * static_cast<std::size_t>(k), "BeamSearch",
        "{} candidates for {} rows of {}", candidates.size(), running_.size(), k);

  ranked_.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(k);
    check_number(candidates[i].log_prob);
    if (candidates[i].log_prob == -INFINITY) continue;
    ranked_.push_back({running_[row].log_prob + static_cast<double>(candidates[i].log_prob),
                       static_cast<std::int32_t>(row), candidates[i].token});
  }
  const std::size_t kept = std::min(ranked_.size(), static_cast<std::size_t>(candidates_per_row(*options_)));
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(kept), ranked_.end(),
                    [](const Beam& a, const Beam& b) {
                      if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
                      return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
                    });

  const std::int32_t length = generated_ + 1;
  const auto beam_size = static_cast<std::size_t>(options_->beam_size);
  if (kept == 0 && finished_.empty())  // nothing may follow: what there is so far is the answer
    for (std::int32_t row = 0; row < rows(); ++row) {
      const Beam& b = running_[static_cast<std::size_t>(row)];
      const auto text = tokens(row).subspan(given());
      finished_.push_back({{text.begin(), text.end()},
                           b.log_prob,
                           normalized(b.log_prob, std::max(generated_, 1), options_->length_penalty)});
    }

  running_.clear();
  for (std::size_t rank = 0; rank < kept; ++rank) {
    const Beam& beam = ranked_[rank];
    if (!ends(beam, length)) {
      if (running_.size() < beam_size) running_.push_back(beam);
    } else if (rank < beam_size) {
      finish(beam, length);
    }
  }

  for (std::size_t row = 0; row < running_.size(); ++row) {
    const auto from = tokens(running_[row].parent);
    std::copy(from.begin(), from.end(), next_history_.begin() + static_cast<std::ptrdiff_t>(row * stride()));
    next_history_[row * stride() + from.size()] = running_[row].token;
  }
  history_.swap(next_history_);
  generated_ = length;

  const bool full = finished_.size() == beam_size;
  done_ = running_.empty() || (full && (options_->early_stopping == EarlyStopping::yes || cannot_improve()));
  if (done_) running_.clear();
}

bool BeamSearch::ends(const Beam& beam, std::int32_t length) const {
  if (length == request_.max_length || is_eos(*options_, beam.token)) return true;
  if (!options_->ends) return false;
  const auto before = tokens(beam.parent).subspan(given());
  std::vector<std::int32_t> text(before.begin(), before.end());
  text.push_back(beam.token);
  return options_->ends(text);
}

// Inserts a hypothesis in order, behind those that score the same, and drops what falls off the end.
void BeamSearch::finish(const Beam& beam, std::int32_t length) {
  const double score = normalized(beam.log_prob, length, options_->length_penalty);
  const auto place =
      std::find_if(finished_.begin(), finished_.end(), [&](const Hypothesis& h) { return h.score < score; });
  if (place == finished_.end() && finished_.size() == static_cast<std::size_t>(options_->beam_size)) return;
  const auto before = tokens(beam.parent).subspan(given());
  Hypothesis h{{before.begin(), before.end()}, beam.log_prob, score};
  h.tokens.push_back(beam.token);
  finished_.insert(place, std::move(h));
  if (finished_.size() > static_cast<std::size_t>(options_->beam_size)) finished_.pop_back();
}

bool BeamSearch::cannot_improve() const {
  const bool look_ahead = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  const std::int32_t length = look_ahead ? request_.max_length : generated_;
  return normalized(running_[0].log_prob, length, options_->length_penalty) <= finished_.back().score;
}

std::vector<Hypothesis> BeamSearch::hypotheses() const {
  const std::size_t n = std::min(finished_.size(), static_cast<std::size_t>(options_->n_best));
  return {finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(n)};
}

void Sequences::begin(const Request& request) {
  check_request(request);
  request_ = request;
  forked_ = false;
  added_.clear();
  rows_.assign(1, {0, 0});
  samples_.resize(static_cast<std::size_t>(options_->n_best));
  for (Sample& s : samples_) {
    s.log_prob = 0;
    s.tokens.assign(1, request.start_id);
    s.tokens.insert(s.tokens.end(), request.prefix.begin(), request.prefix.end());
  }
}

RowView Sequences::view(std::int32_t row) const {
  const std::int32_t number = rows_[static_cast<std::size_t>(row)].sample;
  return {samples_[sample(row)].tokens, &request_, number, forked_ ? 1 : options_->n_best};
}

void Sequences::advance(std::span<const Candidate> candidates, std::int32_t k) {
  check(!done() && k >= 1 && candidates.size() == rows_.size() * static_cast<std::size_t>(k), "Sequences",
        "{} candidates for {} rows of {}", candidates.size(), rows_.size(), k);
  added_.clear();
  next_rows_.clear();
  const auto go_on = [&](std::size_t sample, std::size_t row, const Candidate& candidate) {
    if (extend(sample, candidate))
      next_rows_.push_back({static_cast<std::int32_t>(sample), static_cast<std::int32_t>(row)});
  };
  if (forked_)
    for (std::size_t row = 0; row < rows_.size(); ++row)
      go_on(sample(static_cast<std::int32_t>(row)), row, candidates[row * static_cast<std::size_t>(k)]);
  else
    for (std::size_t s = 0; s < samples_.size(); ++s) go_on(s, 0, candidates[s]);
  forked_ = true;
  rows_.swap(next_rows_);
}

// Whether the sample goes on behind the token.
bool Sequences::extend(std::size_t sample, const Candidate& candidate) {
  Sample& s = samples_[sample];
  check_number(candidate.log_prob);
  if (candidate.log_prob == -INFINITY) {  // nothing may follow
    added_.push_back({static_cast<std::int32_t>(sample), -1, true});
    return false;
  }
  s.tokens.push_back(candidate.token);
  s.log_prob += static_cast<double>(candidate.log_prob);
  const auto text = std::span<const std::int32_t>(s.tokens).subspan(1 + request_.prefix.size());
  const auto length = static_cast<std::int32_t>(text.size());
  const bool ended =
      is_eos(*options_, candidate.token) || length == request_.max_length || (options_->ends && options_->ends(text));
  added_.push_back({static_cast<std::int32_t>(sample), candidate.token, ended});
  return !ended;
}

std::vector<Hypothesis> Sequences::hypotheses() const {
  std::vector<Hypothesis> list;
  for (const Sample& s : samples_) {
    const auto text = s.tokens.begin() + 1 + static_cast<std::ptrdiff_t>(request_.prefix.size());
    Hypothesis h{{text, s.tokens.end()}, options_->scores ? s.log_prob : 0, 0};
    h.score = normalized(h.log_prob, std::max<std::int32_t>(1, static_cast<std::int32_t>(h.tokens.size())),
                         options_->length_penalty);
    list.push_back(std::move(h));
  }
  return list;
}

}  // namespace tril::search
