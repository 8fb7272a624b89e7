#include "decode/batches/proposal_length.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/as_size.h"

namespace tril::search {
namespace {

constexpr double allowed_share = 0.02, allowed_steps = 2;
// Assumed before anything is measured, so that proposals are tried.
constexpr double assumed_agreement = 0.7, assumed_seconds_each = 0.1;
// The chosen length and its neighbours, and steps without proposals, are measured again after this many steps.
constexpr std::int64_t refresh = 64;
// Of steps without proposals, before the first with some: all others are compared with them.
constexpr std::int64_t first_steps = 3;

}  // namespace

ProposalLength::ProposalLength(std::int32_t most) : most_(most), agreed_(as_size(most)) {
  for (Times& t : times_) t.seconds.resize(as_size(most) + 1), t.tried.resize(as_size(most) + 1, -refresh);
}

void ProposalLength::Median::add(double x) {
  last_[as_size(count_++ % std::ssize(last_))] = x;
  std::array<double, std::tuple_size_v<decltype(last_)>> sorted = last_;
  const auto end = sorted.begin() + std::min(count_, std::ssize(last_)),
             middle = sorted.begin() + (end - sorted.begin() - 1) / 2;
  std::nth_element(sorted.begin(), middle, end);
  value_ = *middle;
}

ProposalLength::Times& ProposalLength::times_of(std::size_t rows) {
  return times_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(rows)), times_.size() - 1)];
}

// Between measured lengths, and beyond the longest, times lie on a line.
double ProposalLength::seconds_of(const Times& t, std::int32_t length) const {
  const auto known = [&](std::int32_t k) { return t.seconds[as_size(k)].known(); };
  const auto value = [&](std::int32_t k) { return t.seconds[as_size(k)].value(); };
  if (known(length)) return value(length);
  std::int32_t below = length, above = length;
  while (below > 0 && !known(below)) --below;
  while (above < most_ && !known(above)) ++above;
  const double plain = value(0);
  if (known(above)) return value(below) + (value(above) - value(below)) * (length - below) / (above - below);
  const double each = below > 0 ? std::max(0.0, value(below) - plain) / below : assumed_seconds_each * plain;
  return value(below) + each * (length - below);
}

double ProposalLength::tokens_of(std::int32_t length) const {
  double tokens = 1, all = 1, agreement = assumed_agreement;
  for (std::int32_t i = 0; i < length; ++i) {
    if (agreed_[as_size(i)].known()) agreement = agreed_[as_size(i)].value();
    tokens += all *= agreement;
  }
  return tokens;
}

std::int32_t ProposalLength::best(const Times& t, std::int32_t least, double share) const {
  std::int32_t found = least;
  double rate = 0;
  for (std::int32_t k = least; k <= most_; ++k) {
    const double other = (1 - share + share * tokens_of(k)) / seconds_of(t, k);
    if (other > rate) found = k, rate = other;
  }
  return found;
}

std::int32_t ProposalLength::next(std::size_t rows, double share) {
  const Times& t = times_of(rows);
  if (t.seconds[0].count() < first_steps) return 0;
  if (lost_ > allowed_steps * t.seconds[0].value() + allowed_share * all_) return 0;
  const std::int32_t chosen = best(t, 0, share);
  if (chosen == 0) return steps_ >= next_trial_ ? best(t, 1, share) : 0;
  // In turn, those whose times may have changed.
  for (const std::int32_t k : {0, chosen - 1, chosen + 1})
    if (k <= most_ && steps_ - t.tried[as_size(k)] >= refresh) return k;
  return chosen;
}

void ProposalLength::add(const Measured& step) {
  Times& t = times_of(step.rows);
  ++steps_, all_ += step.seconds;
  t.tried[as_size(step.length)] = steps_;
  if (!step.catches_up) t.seconds[as_size(step.length)].add(step.seconds);
  if (step.length == 0 || !t.seconds[0].known()) return;
  for (const std::int32_t n : step.accepted)
    for (std::int32_t i = 0; i < step.length && i <= n; ++i) agreed_[as_size(i)].add(i < n ? 1 : 0);

  const std::int64_t proposed = std::reduce(step.proposed.begin(), step.proposed.end(), std::int64_t{0});
  const std::int64_t accepted = std::reduce(step.accepted.begin(), step.accepted.end(), std::int64_t{0});
  const double rows = static_cast<double>(step.rows), of_token = t.seconds[0].value() / rows;
  // As for the times, what held a step up does not count.
  const Median& others = t.seconds[as_size(step.length)];
  const double seconds = step.catches_up || !others.known() ? step.seconds : std::min(step.seconds, 2 * others.value());
  lost_ = std::max(0.0, lost_ + seconds - (rows + static_cast<double>(accepted)) * of_token);
  const double share = static_cast<double>(step.proposed.size()) / rows;
  if (best(t, 0, share) > 0 || (proposed > 0 && accepted == proposed)) {
    pause_ = first_pause, next_trial_ = steps_;
  } else if (step.catches_up) {
    next_trial_ = steps_;  // again, to measure the time
  } else {
    next_trial_ = steps_ + pause_;
    pause_ = std::min(2 * pause_, longest_pause);
  }
}

}  // namespace tril::search
