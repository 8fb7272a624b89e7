#include "search/warpers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"

namespace tril::search {
namespace {

double largest(std::span<const Choice> choices) {
  double most = -INFINITY;
  for (const Choice& c : choices) most = std::max(most, c.logit);
  return most;
}

// softmax over the choices
std::vector<double> probabilities(std::span<const Choice> choices) {
  const double most = largest(choices);
  std::vector<double> p;
  double sum = 0;
  for (const Choice& c : choices) p.push_back(std::exp(c.logit - most)), sum += p.back();
  for (double& v : p) v /= sum;
  return p;
}

// Moves elements of `order` to its front, sorted by `later` (as for a heap: true if a comes after b), until their p sum to
// `mass`. Returns their number. The rest stays unsorted, so that a sharp distribution over many tokens is cheap.
template <class Later>
std::size_t take_until(std::vector<std::size_t>& order, const std::vector<double>& p, double mass, const Later& later) {
  std::make_heap(order.begin(), order.end(), later);
  double sum = 0;
  auto end = order.end();
  while (end != order.begin() && (end == order.end() || sum < mass)) {
    std::pop_heap(order.begin(), end, later);
    sum += p[*--end];
  }
  std::reverse(order.begin(), order.end());
  return static_cast<std::size_t>(order.end() - end);
}

std::vector<std::size_t> places(std::size_t n) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  return order;
}

void keep(Choices& choices, const std::vector<char>& stays) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (stays[i]) choices[kept++] = choices[i];
  choices.resize(kept);
}

}  // namespace

void apply_temperature(Choices& choices, double temperature) {
  // A temperature so small that a quotient could overflow: subtract the largest logit first. It stays 0, and the others
  // become -inf.
  constexpr double next_to_nothing = std::numeric_limits<float>::max() / std::numeric_limits<double>::max();
  if (temperature < next_to_nothing) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const Choice& c : choices) largest = std::max(largest, c.logit);
    if (std::isfinite(largest))
      for (Choice& c : choices) c.logit -= largest;
  }
  for (Choice& c : choices) c.logit /= temperature;
}

void keep_top_k(Choices& choices, std::int32_t k) {
  const auto wanted = static_cast<std::size_t>(k);
  if (wanted >= choices.size()) return;
  // The best so far as a heap with the smallest in front. Few tokens of a vocabulary enter it.
  std::vector<double> best;
  best.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) best.push_back(choices[i].logit);
  std::make_heap(best.begin(), best.end(), std::greater<>());
  for (std::size_t i = wanted; i < choices.size(); ++i) {
    if (choices[i].logit <= best.front()) continue;
    std::pop_heap(best.begin(), best.end(), std::greater<>());
    best.back() = choices[i].logit;
    std::push_heap(best.begin(), best.end(), std::greater<>());
  }
  std::erase_if(choices, [least = best.front()](const Choice& c) { return c.logit < least; });
}

void keep_top_p(Choices& choices, double mass) {
  const std::vector<double> p = probabilities(choices);
  std::vector<std::size_t> order = places(p.size());
  const std::size_t n =
      take_until(order, p, mass, [&](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] < p[b] : a > b; });
  std::vector<char> stays(p.size(), 0);
  for (std::size_t i = 0; i < n; ++i) stays[order[i]] = 1;
  keep(choices, stays);
}

void keep_min_p(Choices& choices, double p) {
  const double least = largest(choices) + std::log(p);
  std::erase_if(choices, [least](const Choice& c) { return c.logit < least; });
}

void keep_typical_p(Choices& choices, double mass) {
  const std::vector<double> p = probabilities(choices);
  double entropy = 0;
  for (double v : p) entropy -= v > 0 ? v * std::log(v) : 0;
  std::vector<double> distance;
  for (double v : p) distance.push_back(std::abs(-std::log(v) - entropy));
  std::vector<std::size_t> order = places(p.size());
  const std::size_t n = take_until(order, p, mass, [&](std::size_t a, std::size_t b) {
    return distance[a] != distance[b] ? distance[a] > distance[b] : a > b;
  });
  std::vector<char> stays;  // tokens at the same distance as the last one are kept too
  for (double d : distance) stays.push_back(d <= distance[order[n - 1]] ? 1 : 0);
  keep(choices, stays);
}

void warp(Choices& choices, const SamplingOptions& o) {
  if (choices.empty()) return;
  if (o.temperature != 1) apply_temperature(choices, o.temperature);
  if (o.top_k > 0) keep_top_k(choices, o.top_k);
  if (o.top_p < 1) keep_top_p(choices, o.top_p);
  if (o.min_p > 0) keep_min_p(choices, o.min_p);
  if (o.typical_p < 1) keep_typical_p(choices, o.typical_p);
}

std::vector<double> running_sums(std::span<const Choice> choices) {
  const double most = largest(choices);
  std::vector<double> sums;
  double sum = 0;
  for (const Choice& c : choices) sums.push_back(sum += std::exp(c.logit - most));
  return sums;
}

std::int32_t draw(std::span<const Choice> choices, std::span<const double> sums, double uniform) {
  check(!choices.empty() && sums.size() == choices.size(), "sampling", "{} sums for {} choices", sums.size(),
        choices.size());
  auto found = std::upper_bound(sums.begin(), sums.end(), uniform * sums.back());
  if (found == sums.end())
    found = std::lower_bound(sums.begin(), sums.end(), sums.back());  // rounding reached the last sum
  return choices[found - sums.begin()].token;
}

double sampling_number(std::uint64_t seed, std::uint64_t request, std::int32_t sample, std::int32_t position) {
  constexpr std::uint64_t sampling_stream = 0x73616d706c65;  // differs from every other use of the seed
  const RandomKey of_request = sub_key(random_key(seed, sampling_stream), request);
  const RandomKey of_sample = sub_key(of_request, static_cast<std::uint64_t>(sample));
  return RandomSequence(sub_key(of_sample, static_cast<std::uint64_t>(position))).uniform();
}

}  // namespace tril::search
