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
  const auto room = static_cast<std::size_t>(options_->beam_size) * (static_cast<std::size_t>(request.max_length) + 1);
  if (history_.size() < room) history_.resize(room), next_history_.resize(room);
  history_[0] = request.start_id;
}

std::span<const std::int32_t> BeamSearch::tokens(std::int32_t row) const {
  const auto stride = static_cast<std::size_t>(request_.max_length) + 1;
  return std::span(history_).subspan(static_cast<std::size_t>(row) * stride, static_cast<std::size_t>(generated_) + 1);
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
  const bool at_end = length == request_.max_length;
  const auto beam_size = static_cast<std::size_t>(options_->beam_size);
  if (kept == 0 && finished_.empty())  // nothing may follow: what there is so far is the answer
    for (std::int32_t row = 0; row < rows(); ++row) {
      const Beam& b = running_[static_cast<std::size_t>(row)];
      const auto text = tokens(row).subspan(1);
      finished_.push_back({{text.begin(), text.end()},
                           b.log_prob,
                           normalized(b.log_prob, std::max(generated_, 1), options_->length_penalty)});
    }

  running_.clear();
  for (std::size_t rank = 0; rank < kept; ++rank) {
    const Beam& beam = ranked_[rank];
    if (!at_end && !is_eos(*options_, beam.token)) {
      if (running_.size() < beam_size) running_.push_back(beam);
    } else if (rank < beam_size) {
      finish(beam, length);
    }
  }

  const auto stride = static_cast<std::size_t>(request_.max_length) + 1;
  for (std::size_t row = 0; row < running_.size(); ++row) {
    const auto from = tokens(running_[row].parent);
    std::copy(from.begin(), from.end(), next_history_.begin() + static_cast<std::ptrdiff_t>(row * stride));
    next_history_[row * stride + from.size()] = running_[row].token;
  }
  history_.swap(next_history_);
  generated_ = length;

  const bool full = finished_.size() == beam_size;
  done_ = running_.empty() || (full && (options_->early_stopping == EarlyStopping::yes || cannot_improve()));
  if (done_) running_.clear();
}

// Inserts a hypothesis in order, behind those that score the same, and drops what falls off the end.
void BeamSearch::finish(const Beam& beam, std::int32_t length) {
  const double score = normalized(beam.log_prob, length, options_->length_penalty);
  const auto place =
      std::find_if(finished_.begin(), finished_.end(), [&](const Hypothesis& h) { return h.score < score; });
  if (place == finished_.end() && finished_.size() == static_cast<std::size_t>(options_->beam_size)) return;
  const auto before = tokens(beam.parent).subspan(1);
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

void Greedy::begin(const Request& request) {
  check_request(request);
  request_ = request;
  done_ = false;
  log_prob_ = 0;
  tokens_.clear();
  tokens_.reserve(static_cast<std::size_t>(request.max_length) + 1);
  tokens_.push_back(request.start_id);
}

void Greedy::advance(std::span<const Candidate> candidates, std::int32_t k) {
  check(!done_ && k == 1 && candidates.size() == 1, "Greedy", "{} candidates for one row", candidates.size());
  check_number(candidates[0].log_prob);
  if (candidates[0].log_prob == -INFINITY) {  // nothing may follow
    done_ = true;
    return;
  }
  tokens_.push_back(candidates[0].token);
  log_prob_ += static_cast<double>(candidates[0].log_prob);
  done_ = is_eos(*options_, candidates[0].token) || tokens_.size() == static_cast<std::size_t>(request_.max_length) + 1;
}

std::vector<Hypothesis> Greedy::hypotheses() const {
  Hypothesis h{{tokens_.begin() + 1, tokens_.end()}, log_prob_, 0};
  if (!options_->scores) h.log_prob = 0;
  h.score = normalized(h.log_prob, std::max<std::int32_t>(1, static_cast<std::int32_t>(h.tokens.size())),
                       options_->length_penalty);
  return {std::move(h)};
}

}  // namespace tril::search
