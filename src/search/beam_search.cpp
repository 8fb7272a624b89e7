#include "search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "search/candidates.h"

namespace tril::search {
// With e EOS ids, a group of g rows considers max(2, 1 + e) g candidates. The diversity penalty can push back at most
// beam_size - g others. Together these are never more than what one beam of all rows needs.
std::int32_t BeamSearch::candidates_per_row(const SearchPlan& o) {
  const std::int32_t beam = std::max<std::int32_t>(2, 1 + static_cast<std::int32_t>(o.eos_ids.size())) * o.beam_size;
  return o.alternatives ? std::max(beam, o.n_best) : beam;
}

std::size_t BeamSearch::group_size() const {
  return options_->beam_size / options_->beam_groups;
}

void BeamSearch::begin(const Request& request) {
  check_lengths(request);
  request_ = request;
  generated_ = 0;
  cut_.reset();
  groups_.assign(options_->beam_groups, Group{0, 1, {}});  // all continue from the first row
  running_.assign(1, Beam{0, 0, 0, request.start_id});
  const std::int32_t most = options_->alternatives ? options_->n_best * options_->beam_size : options_->beam_size;
  const std::size_t room = most * stride();
  if (history_.size() < room) history_.resize(room), next_history_.resize(room);
  trail_.begin();
  history_[0] = request.start_id;
  std::copy(request.prefix.begin(), request.prefix.end(), history_.begin() + 1);

  phrases_ = Phrases(request_, *options_);
  states_.assign(phrases_.state_size(), 0);
  for (std::int32_t id : request.prefix) {
    next_states_.resize(states_.size());
    phrases_.advance(states_, id, next_states_);
    states_.swap(next_states_);
  }
  set_wanted();
  if (request_.observer) request_.observer->begin(request_);
}

RowView BeamSearch::view(std::int32_t row) const {
  RowView view{tokens(row), &request_};
  if (!phrases_.none()) view.wanted = wanted_[row];
  return view;
}

std::span<const std::int32_t> BeamSearch::state(std::size_t row) const {
  return std::span(states_).subspan(row * phrases_.state_size(), phrases_.state_size());
}

std::vector<std::int32_t> BeamSearch::state_after(const Beam& beam) const {
  std::vector<std::int32_t> next(phrases_.state_size());
  phrases_.advance(state(beam.parent), beam.token, next);
  return next;
}

// Sets the tokens that each row needs next for its phrases.
void BeamSearch::set_wanted() {
  if (phrases_.none()) return;
  wanted_.resize(std::max(wanted_.size(), running_.size()));
  for (std::size_t row = 0; row < running_.size(); ++row) {
    wanted_[row].clear();
    phrases_.next_tokens(state(row), wanted_[row]);
  }
}

std::span<const std::int32_t> BeamSearch::tokens(std::int32_t row) const {
  return std::span(history_).subspan(row * stride(), given() + generated_);
}

void BeamSearch::advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) {
  check(!done() && candidates.size() == running_.size() * k, "BeamSearch", "{} candidates for {} rows of {}",
        candidates.size(), running_.size(), k);
  trail_.look(seen.attention);
  next_.clear();
  choices_.clear();
  if (is_branching()) {
    rank(groups_[0], candidates, k);
    branch();
  } else {
    for (Group& group : groups_) {
      if (group.count == 0) continue;
      rank(group, candidates, k);
      advance(group);
    }
  }
  if (SearchObserver* const observer = request_.observer) {
    for (const SearchObserver::Choice& choice : choices_) observer->choose(choice);
    show(*observer, seen.observed, rows());
    observer->advance();
  }

  for (std::size_t row = 0; row < next_.size(); ++row) {
    const auto from = tokens(next_[row].parent);
    std::copy(from.begin(), from.end(), next_history_.begin() + static_cast<std::ptrdiff_t>(row * stride()));
    next_history_[row * stride() + from.size()] = next_[row].token;
  }
  next_states_.clear();
  for (const Beam& beam : next_) {
    const std::vector<std::int32_t> next = state_after(beam);
    next_states_.insert(next_states_.end(), next.begin(), next.end());
  }
  parents_.clear();
  for (const Beam& beam : next_) parents_.push_back(beam.parent);
  trail_.follow(parents_);
  history_.swap(next_history_);
  states_.swap(next_states_);
  running_.swap(next_);
  ++generated_;
  set_wanted();
}

bool BeamSearch::is_better(const Beam& a, const Beam& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
}

void BeamSearch::rank(const Group& group, std::span<const Candidate> candidates, std::int32_t k) {
  ranked_.clear();
  for (std::size_t row = group.first; row < group.first + group.count; ++row)
    for (const Candidate& candidate : candidates.subspan(row * k, k)) {
      check_number(candidate.log_prob);
      if (candidate.log_prob == -INFINITY) continue;
      const auto log_prob = static_cast<double>(candidate.log_prob);
      double penalty = 0;
      if (options_->diversity_penalty > 0)  // next_ holds the beams of the groups before this one
        for (const Beam& other : next_)
          if (other.token == candidate.token) penalty += options_->diversity_penalty;
      ranked_.push_back({running_[row].sum + log_prob - penalty, running_[row].log_prob + log_prob,
                         static_cast<std::int32_t>(row), candidate.token, 0, candidate.log_prob});
    }
  const bool first_alternatives = is_branching();
  std::size_t most = std::max<std::size_t>(2, 1 + options_->eos_ids.size()) * group_size();
  if (first_alternatives) most = options_->n_best;
  if (!phrases_.none() && !first_alternatives) return allocate(most);
  const std::size_t kept = std::min(ranked_.size(), most);
  std::partial_sort(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(kept), ranked_.end(), is_better);
  ranked_.resize(kept);
}

// Sorts the candidates in the order in which they get places, and keeps the first `most`.
void BeamSearch::allocate(std::size_t most) {
  for (Beam& beam : ranked_) beam.progress = phrases_.progress(state_after(beam));
  std::sort(ranked_.begin(), ranked_.end(), [](const Beam& a, const Beam& b) {
    return a.progress != b.progress ? a.progress > b.progress : is_better(a, b);
  });
  std::vector<std::span<const Beam>> banks;  // those with the most phrase tokens first
  for (std::size_t begin = 0, end = 0; begin < ranked_.size(); begin = end) {
    while (end < ranked_.size() && ranked_[end].progress == ranked_[begin].progress) ++end;
    banks.push_back(std::span<const Beam>(ranked_).subspan(begin, end - begin));
  }
  // If there are more banks than places, evenly spaced banks come first. The others get the places that are left.
  std::vector<std::span<const Beam>> turns, rest;
  const std::size_t n = banks.size(), places = std::min(n, group_size());
  for (std::size_t i = 0, taken = 0; i < n; ++i) {
    const bool take = taken < places && i == (places == 1 ? 0 : taken * (n - 1) / (places - 1));
    (take ? turns : rest).push_back(banks[i]);
    taken += take ? 1 : 0;
  }
  std::vector<Beam> order;
  for (auto* list : {&turns, &rest})
    for (bool any = true; any && order.size() < most;) {
      any = false;
      for (auto& bank : *list) {
        if (bank.empty() || order.size() == most) continue;
        order.push_back(bank.front());
        bank = bank.subspan(1);
        any = true;
      }
    }
  ranked_ = std::move(order);
}

void BeamSearch::advance(Group& group) {
  if (ranked_.empty() && group.finished.empty()) finish_unended(group, StopReason::dead_end);
  group.first = next_.size();
  const std::size_t first_choice = choices_.size();
  for (std::size_t place = 0; place < ranked_.size(); ++place) {
    const Beam& beam = ranked_[place];
    const auto end = end_of(beam);
    if (!end && next_.size() < group.first + group_size()) {
      next_.push_back(beam);
      note(group, beam, Fate::living);
    } else if (end && place < group_size()) {
      note(group, beam, finish(group, beam, *end), *end);
    } else {
      note(group, beam, Fate::cut);
    }
  }
  group.count = next_.size() - group.first;
  if (is_done(group)) {
    next_.resize(group.first);
    group.count = 0;
    for (std::size_t i = first_choice; i < choices_.size(); ++i)
      if (choices_[i].fate == Fate::living) choices_[i].fate = Fate::stopped;
  }
}

SearchObserver::Choice& BeamSearch::noted(const Group& group, const Beam& beam, Fate fate) {
  choices_.push_back({.row = beam.parent,
                      .token = beam.token,
                      .group = static_cast<std::int32_t>(&group - groups_.data()),
                      .fate = fate,
                      .log_prob = static_cast<double>(beam.token_log_prob),
                      .sum = beam.log_prob,
                      .rank_sum = beam.sum});
  return choices_.back();
}

void BeamSearch::note(const Group& group, const Beam& beam, Fate fate) {
  if (request_.observer) noted(group, beam, fate);
}

void BeamSearch::note(const Group& group, const Beam& beam, double score, StopReason why) {
  if (!request_.observer) return;
  SearchObserver::Choice& choice = noted(group, beam, Fate::finished);
  choice.score = score, choice.stop_reason = why;
}

// True if the next token is the first one that is not forced. The alternatives differ in it.
bool BeamSearch::is_branching() const {
  return options_->alternatives && generated_ == (forced_first(request_, options_->forced_bos_id) >= 0 ? 1 : 0);
}

// Turns the candidates of the first row into alternatives.
void BeamSearch::branch() {
  if (ranked_.empty()) {
    finish_unended(groups_[0], StopReason::dead_end);
    return;
  }
  groups_.clear();
  for (const Beam& beam : ranked_) {
    if (!groups_.empty() && beam.log_prob < std::log(options_->min_alternative_prob)) {
      note(groups_.back(), beam, Fate::cut);
      continue;  // those that follow are less probable still
    }
    groups_.push_back({next_.size(), 0, {}});
    if (const auto end = end_of(beam)) {
      note(groups_.back(), beam, finish(groups_.back(), beam, *end), *end);
    } else {
      next_.push_back(beam);
      groups_.back().count = 1;
      note(groups_.back(), beam, Fate::living);
    }
  }
}

std::optional<StopReason> BeamSearch::end_of(const Beam& beam) const {
  if (is_eos(*options_, beam.token)) return StopReason::end_token;
  if (generated_ + 1 == request_.max_length) return StopReason::length;
  if (!options_->ends) return std::nullopt;
  const auto before = tokens(beam.parent);
  std::vector<std::int32_t> all(before.begin(), before.end());
  all.push_back(beam.token);
  if (!options_->ends(std::span(all).first(given()), std::span(all).subspan(given()))) return std::nullopt;
  return StopReason::stop;
}

// A hypothesis that ends: its generated tokens, and its state of phrases.
struct BeamSearch::Ended {
  const Beam& beam;
  std::vector<std::int32_t> text;
  std::vector<std::int32_t> state;
  std::vector<float> attention;
  StopReason why;
};

double BeamSearch::finish(Group& group, const Beam& beam, StopReason why) {
  const auto before = tokens(beam.parent).subspan(given());
  std::vector<std::int32_t> text(before.begin(), before.end());
  text.push_back(beam.token);
  return insert(group, {beam, std::move(text), state_after(beam), trail_.with_next(beam.parent), why});
}

// The running rows of the group become its hypotheses.
void BeamSearch::finish_unended(Group& group, StopReason why) {
  for (std::size_t row = group.first; row < group.first + group.count; ++row) {
    const auto text = tokens(static_cast<std::int32_t>(row)).subspan(given());
    const auto reached = state(row);
    const double score = insert(group, {running_[row],
                                        {text.begin(), text.end()},
                                        {reached.begin(), reached.end()},
                                        trail_.so_far(static_cast<std::int32_t>(row)),
                                        why});
    if (request_.observer) request_.observer->end(static_cast<std::int32_t>(row), score, why);
  }
}

// Inserts the hypothesis in order, after others with the same score, and drops the last one if there are too many.
double BeamSearch::insert(Group& group, Ended e) {
  const auto length = std::max(1, static_cast<std::int32_t>(e.text.size()));
  const double penalty = coverage_penalty(e.attention, e.text.size(), options_->coverage_penalty);
  const auto score = [&](double sum) { return normalized(sum, length, options_->length_penalty) + penalty; };
  Finished f{{std::move(e.text), e.beam.log_prob, score(e.beam.log_prob), phrases_.unsatisfied(e.state)},
             score(e.beam.sum),
             phrases_.missing(e.state)};
  f.hypothesis.attention = std::move(e.attention);
  f.hypothesis.stop_reason = e.why;
  const double its_score = f.hypothesis.score;
  const auto place = std::find_if(group.finished.begin(), group.finished.end(), [&](const Finished& other) {
    return other.missing != f.missing ? other.missing > f.missing : other.rank_score < f.rank_score;
  });
  group.finished.insert(place, std::move(f));
  if (std::ssize(group.finished) > options_->pool_size()) group.finished.pop_back();
  return its_score;
}

// True if the beams that were just added to next_ need not continue.
bool BeamSearch::is_done(const Group& group) const {
  if (group.count == 0) return true;
  if (std::ssize(group.finished) < options_->pool_size() || group.finished.back().missing > phrases_.left_out())
    return false;
  // A beam of one is greedy search, which stops at the first end.
  if (options_->early_stopping == EarlyStopping::yes || options_->beam_size == 1) return true;
  const bool never = options_->early_stopping == EarlyStopping::never;
  const bool look_ahead = never && options_->length_penalty > 0;
  const std::int32_t length = look_ahead ? request_.max_length : generated_ + 1;
  const auto score = [&](const Beam& beam) {
    // With `never`, later tokens may still cover the whole source, so the bound assumes no penalty.
    const double penalty = never || options_->coverage_penalty == 0
                               ? 0
                               : coverage_penalty(trail_.with_next(beam.parent), length, options_->coverage_penalty);
    return normalized(beam.sum, length, options_->length_penalty) + penalty;
  };
  double best = score(next_[group.first]);
  for (std::size_t row = group.first; row < next_.size(); ++row) best = std::max(best, score(next_[row]));
  return best <= group.finished.back().rank_score;
}

void BeamSearch::cut(StopReason why) {
  cut_ = why;
  for (Group& group : groups_) {
    if (group.finished.empty()) finish_unended(group, why);
    group.count = 0;
  }
  running_.clear();
}

std::int32_t BeamSearch::best_row() const {
  const auto best = std::max_element(running_.begin(), running_.end(),
                                     [](const Beam& a, const Beam& b) { return a.log_prob < b.log_prob; });
  return static_cast<std::int32_t>(best - running_.begin());
}

std::vector<Hypothesis> BeamSearch::hypotheses() const {
  const std::size_t wanted = options_->n_best;
  std::int32_t missing = std::numeric_limits<std::int32_t>::max();
  for (const Group& group : groups_)
    if (!group.finished.empty()) missing = std::min(missing, group.finished[0].missing);
  std::vector<Hypothesis> list;
  for (std::size_t place = 0; list.size() < wanted; ++place) {  // the best of each group, the second best, ...
    bool any = false;
    for (const Group& group : groups_) {
      if (place >= group.finished.size() || list.size() == wanted) continue;
      any = true;
      if (group.finished[place].missing > missing && !options_->alternatives) continue;
      const Hypothesis& h = group.finished[place].hypothesis;
      if (std::none_of(list.begin(), list.end(), [&](const Hypothesis& other) { return other.tokens == h.tokens; }))
        list.push_back(h);
    }
    if (!any || options_->alternatives) break;
  }
  if (options_->beam_groups > 1)
    std::stable_sort(list.begin(), list.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (cut_)
    for (Hypothesis& h : list) h.stop_reason = *cut_;
  return list;
}

}  // namespace tril::search
