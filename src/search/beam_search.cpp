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

// Of a group of g rows max(2, 1 + e) g are looked at, behind at most beam_size - g that another group's choices push back:
// never more than one beam of all rows needs.
std::int32_t BeamSearch::candidates_per_row(const SearchOptions& o) {
  const std::int32_t beam = std::max<std::int32_t>(2, 1 + static_cast<std::int32_t>(o.eos_ids.size())) * o.beam_size;
  return o.alternatives ? std::max(beam, o.n_best) : beam;
}

std::size_t BeamSearch::group_size() const {
  return static_cast<std::size_t>(options_->beam_size / options_->beam_groups);
}

void BeamSearch::begin(const Request& request) {
  check_request(request);
  request_ = request;
  generated_ = 0;
  groups_.assign(static_cast<std::size_t>(options_->beam_groups), Group{0, 1, {}});  // all go on from the first row
  running_.assign(1, Beam{0, 0, 0, request.start_id});
  const std::int32_t most = options_->alternatives ? options_->n_best * options_->beam_size : options_->beam_size;
  const std::size_t room = static_cast<std::size_t>(most) * stride();
  if (history_.size() < room) history_.resize(room), next_history_.resize(room);
  history_[0] = request.start_id;
  std::copy(request.prefix.begin(), request.prefix.end(), history_.begin() + 1);
}

std::span<const std::int32_t> BeamSearch::tokens(std::int32_t row) const {
  return std::span(history_).subspan(static_cast<std::size_t>(row) * stride(),
                                     given() + static_cast<std::size_t>(generated_));
}

void BeamSearch::advance(std::span<const Candidate> candidates, std::int32_t k) {
  check(!done() && candidates.size() == running_.size() * static_cast<std::size_t>(k), "BeamSearch",
        "{} candidates for {} rows of {}", candidates.size(), running_.size(), k);
  next_.clear();
  if (options_->alternatives && generated_ == 0) {
    rank(groups_[0], candidates, k);
    branch();
  } else {
    for (Group& group : groups_) {
      if (group.count == 0) continue;
      rank(group, candidates, k);
      advance(group);
    }
  }

  for (std::size_t row = 0; row < next_.size(); ++row) {
    const auto from = tokens(next_[row].parent);
    std::copy(from.begin(), from.end(), next_history_.begin() + static_cast<std::ptrdiff_t>(row * stride()));
    next_history_[row * stride() + from.size()] = next_[row].token;
  }
  history_.swap(next_history_);
  running_.swap(next_);
  ++generated_;
}

void BeamSearch::rank(const Group& group, std::span<const Candidate> candidates, std::int32_t k) {
  ranked_.clear();
  for (std::size_t row = group.first; row < group.first + group.count; ++row)
    for (const Candidate& candidate :
         candidates.subspan(row * static_cast<std::size_t>(k), static_cast<std::size_t>(k))) {
      check_number(candidate.log_prob);
      if (candidate.log_prob == -INFINITY) continue;
      const auto log_prob = static_cast<double>(candidate.log_prob);
      double penalty = 0;
      if (options_->diversity_penalty > 0)  // next_ holds what the groups before this one chose
        for (const Beam& other : next_)
          if (other.token == candidate.token) penalty += options_->diversity_penalty;
      ranked_.push_back({running_[row].sum + log_prob - penalty, running_[row].log_prob + log_prob,
                         static_cast<std::int32_t>(row), candidate.token});
    }
  const std::size_t most = std::max<std::size_t>(2, 1 + options_->eos_ids.size()) * group_size();
  const std::size_t kept = std::min(
      ranked_.size(), options_->alternatives && generated_ == 0 ? static_cast<std::size_t>(options_->n_best) : most);
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(kept), ranked_.end(),
                    [](const Beam& a, const Beam& b) {
                      if (a.sum != b.sum) return a.sum > b.sum;
                      return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
                    });
  ranked_.resize(kept);
}

void BeamSearch::advance(Group& group) {
  if (ranked_.empty() && group.finished.empty()) finish_unended(group);
  group.first = next_.size();
  for (std::size_t place = 0; place < ranked_.size(); ++place) {
    const Beam& beam = ranked_[place];
    if (!ends(beam)) {
      if (next_.size() < group.first + group_size()) next_.push_back(beam);
    } else if (place < group_size()) {
      finish(group, beam);
    }
  }
  group.count = next_.size() - group.first;
  if (is_done(group)) {
    next_.resize(group.first);
    group.count = 0;
  }
}

// The first row's candidates become alternatives.
void BeamSearch::branch() {
  if (ranked_.empty()) {
    finish_unended(groups_[0]);
    return;
  }
  groups_.clear();
  for (const Beam& beam : ranked_) {
    if (!groups_.empty() && beam.log_prob < std::log(options_->min_alternative_prob)) break;
    groups_.push_back({next_.size(), 0, {}});
    if (ends(beam)) {
      finish(groups_.back(), beam);
    } else {
      next_.push_back(beam);
      groups_.back().count = 1;
    }
  }
}

bool BeamSearch::ends(const Beam& beam) const {
  if (generated_ + 1 == request_.max_length || is_eos(*options_, beam.token)) return true;
  if (!options_->ends) return false;
  const auto before = tokens(beam.parent).subspan(given());
  std::vector<std::int32_t> text(before.begin(), before.end());
  text.push_back(beam.token);
  return options_->ends(text);
}

// Inserts a hypothesis in order, behind those that score the same, and drops what falls off the end.
void BeamSearch::finish(Group& group, const Beam& beam) {
  const std::int32_t length = generated_ + 1;
  const auto pool = static_cast<std::size_t>(options_->pool_size());
  const double rank_score = normalized(beam.sum, length, options_->length_penalty);
  const auto place = std::find_if(group.finished.begin(), group.finished.end(),
                                  [&](const Finished& f) { return f.rank_score < rank_score; });
  if (place == group.finished.end() && group.finished.size() == pool) return;
  const auto before = tokens(beam.parent).subspan(given());
  Hypothesis h{
      {before.begin(), before.end()}, beam.log_prob, normalized(beam.log_prob, length, options_->length_penalty)};
  h.tokens.push_back(beam.token);
  group.finished.insert(place, {std::move(h), rank_score});
  if (group.finished.size() > pool) group.finished.pop_back();
}

// What there is so far is the answer.
void BeamSearch::finish_unended(Group& group) {
  const std::int32_t length = std::max(generated_, 1);
  for (std::size_t row = group.first; row < group.first + group.count; ++row) {
    const Beam& b = running_[row];
    const auto text = tokens(static_cast<std::int32_t>(row)).subspan(given());
    group.finished.push_back(
        {{{text.begin(), text.end()}, b.log_prob, normalized(b.log_prob, length, options_->length_penalty)},
         normalized(b.sum, length, options_->length_penalty)});
  }
}

// Whether what was just chosen for next_ need not go on.
bool BeamSearch::is_done(const Group& group) const {
  if (group.count == 0) return true;
  if (group.finished.size() < static_cast<std::size_t>(options_->pool_size())) return false;
  // A beam of one is greedy search: its first end is its end.
  if (options_->early_stopping == EarlyStopping::yes || options_->beam_size == 1) return true;
  const bool look_ahead = options_->early_stopping == EarlyStopping::never && options_->length_penalty > 0;
  const std::int32_t length = look_ahead ? request_.max_length : generated_ + 1;
  return normalized(next_[group.first].sum, length, options_->length_penalty) <= group.finished.back().rank_score;
}

std::vector<Hypothesis> BeamSearch::hypotheses() const {
  const auto wanted = static_cast<std::size_t>(options_->n_best);
  std::vector<Hypothesis> list;
  for (std::size_t place = 0; list.size() < wanted; ++place) {  // the best of each group, the second best, ...
    bool any = false;
    for (const Group& group : groups_) {
      if (place >= group.finished.size() || list.size() == wanted) continue;
      any = true;
      const Hypothesis& h = group.finished[place].hypothesis;
      if (std::none_of(list.begin(), list.end(), [&](const Hypothesis& other) { return other.tokens == h.tokens; }))
        list.push_back(h);
    }
    if (!any || options_->alternatives) break;
  }
  if (options_->beam_groups > 1)
    std::stable_sort(list.begin(), list.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return list;
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
