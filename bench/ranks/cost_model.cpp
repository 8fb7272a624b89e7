#include "ranks/cost_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tril::bench {
namespace {

// A message that the receiver waits for.
double message(double bytes, const Link& link) {
  return link.latency + 2 * link.overhead + bytes / link.bytes_per_second;
}

double steps_of_two(double ranks) {
  return std::ceil(std::log2(ranks) - 1e-9);
}

}  // namespace

double ring_all_gather(double bytes, double ranks, const Link& link) {
  return (ranks - 1) * message(bytes / ranks, link);
}

double ring_all_reduce(double bytes, double ranks, const Link& link) {
  return 2 * ring_all_gather(bytes, ranks, link);
}

double halving_all_reduce(double bytes, double ranks, const Link& link) {
  if (ranks <= 1) return 0;
  return 2 * (steps_of_two(ranks) * message(0, link) + (ranks - 1) / ranks * bytes / link.bytes_per_second);
}

double doubling_all_reduce(double bytes, double ranks, const Link& link) {
  return ranks <= 1 ? 0 : steps_of_two(ranks) * message(bytes, link);
}

double tree_all_reduce(double bytes, double ranks, const Link& link) {
  return 2 * doubling_all_reduce(bytes, ranks, link);
}

double two_level_all_reduce(double bytes, double ranks, double per_machine, const Link& inside, const Link& outside) {
  Link shared = outside;
  shared.bytes_per_second /= per_machine;
  return ring_all_reduce(bytes, per_machine, inside) +
         ring_all_reduce(bytes / per_machine, ranks / per_machine, shared);
}

double expected_largest(double draws) {
  if (draws <= 1) return 0;
  constexpr double step = 1e-3, end = 8;
  const auto below = [&](double x) { return std::pow(0.5 * std::erfc(-x / std::sqrt(2.0)), draws); };
  double sum = 0;
  for (double x = -end; x < end; x += step) sum += (x + step / 2) * (below(x + step) - below(x));
  return sum;
}

Dealt deal(double weights, std::size_t ranks) {
  constexpr double piece = 1 << 14;
  const auto pieces = static_cast<std::size_t>(std::ceil(weights / piece));
  const std::size_t per_bucket = std::max<std::size_t>(1, std::min<std::size_t>(64, pieces / 8));
  std::vector<double> owned(ranks), buckets(ranks);
  Dealt dealt;
  for (std::size_t first = 0, b = 0; first < pieces; first += per_bucket, ++b) {
    const std::size_t count = std::min(per_bucket, pieces - first);
    std::size_t last = ranks;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t owner = (i * ranks / count + b) % ranks;
      ++owned[owner];
      if (owner != last) ++buckets[owner], ++dealt.messages_out;
      last = owner;
    }
  }
  // A rank sends nothing to itself: subtract an average rank's share.
  dealt.messages_out *= static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  dealt.most_pieces = *std::max_element(owned.begin(), owned.end());
  dealt.most_buckets = *std::max_element(buckets.begin(), buckets.end());
  dealt.most_values = std::min(weights, dealt.most_pieces * piece);
  return dealt;
}

namespace {

// If a machine has more ranks than cores, they take turns.
double crowding(const Step& s) {
  return std::max(1.0, static_cast<double>(s.per_machine) * s.threads / s.cores);
}

// The cost of a step without messages.
StepCost alone(const Step& s) {
  const auto n = static_cast<double>(s.ranks);
  StepCost cost;
  // The cores that compute also read: reading ahead still takes their time.
  cost.data = n * s.batch_reading * std::min(n, static_cast<double>(s.per_machine)) / s.cores;
  cost.compute = s.compute * crowding(s);
  cost.waiting_for_slowest = s.compute * s.spread * expected_largest(n);
  cost.packing = s.packing * crowding(s);
  cost.stepping = s.summing * crowding(s);
  return cost;
}

// Time of the last backward pass during which gradients can travel.
double window(const Step& s) {
  return s.compute * s.backward * (1 - s.before_first) / s.passes;
}

// Gradients still under way when the backward pass ends. They become complete evenly from `before_first` on, and the
// rest at the end. A link that is never idle meanwhile ends at the later of: first complete + all of them, end +
// those that became complete at the end.
double exposed(const Step& s, double travel, double arrival) {
  if (!s.overlap) return travel;
  return std::max(travel - window(s), arrival + s.at_its_end * (travel - arrival));
}

// Seconds to move what a rank exchanges with the others: the ranks of a machine share its outward link, and the
// machine's cores do the copying.
struct Traffic {
  double out = 0, in = 0, messages = 0;
};

// A long message is announced and requested before it is sent, which is a round trip [LogGPS, Ino et al. 2001].
double arrival(const Traffic& t, const Link& link) {
  constexpr double longest_at_once = 1 << 16;
  return (t.messages > 0 && (t.in + t.out) / t.messages >= longest_at_once ? 3 : 1) * link.latency;
}

// Core time of a rank's messages.
double copying_of(const Step& s, const Traffic& t, double remote) {
  return (t.in + t.out) * (remote * s.outside.core_seconds_per_byte + (1 - remote) * s.inside.core_seconds_per_byte);
}

double time_of(const Step& s, const Traffic& t) {
  const auto n = static_cast<double>(s.ranks), k = std::min(n, static_cast<double>(s.per_machine));
  const double remote = n > 1 ? (n - k) / (n - 1) : 0, most = std::max(t.out, t.in);
  const double outside = remote > 0 ? remote * most * k / s.outside.bytes_per_second : 0;
  const double inside = remote < 1 ? (1 - remote) * most / s.inside.bytes_per_second : 0;
  const double copying = k * copying_of(s, t, remote) / s.cores;
  const Link& link = remote > 0 ? s.outside : s.inside;
  return arrival(t, link) + std::max({outside, inside, copying}) +
         t.messages * link.overhead * std::max(1.0, k / s.cores);
}

// The time that copying overlapped messages takes from the cores that compute meanwhile.
double stolen(const Step& s, const Traffic& t) {
  const auto n = static_cast<double>(s.ranks), k = std::min(n, static_cast<double>(s.per_machine));
  const double remote = n > 1 ? (n - k) / (n - 1) : 0;
  const double copying = k * copying_of(s, t, remote);
  const Link& link = remote > 0 ? s.outside : s.inside;
  // Cores without a rank's thread do it for free.
  const double busy = std::min(1.0, k * s.threads / s.cores);
  return busy * (copying + k * t.messages * link.overhead) / s.cores;
}

// all_gather() (src/dist/ranks.cpp): 4,104 bytes to each rank, and longer data in a second round.
double gathering(const Step& s, double bytes) {
  const auto n = static_cast<double>(s.ranks);
  constexpr double first = 4104, room = 4096;
  const auto round = [&](double size) { return time_of(s, {(n - 1) * size, (n - 1) * size, 2 * (n - 1)}); };
  return round(first) + (bytes > room ? round(bytes - room) : 0);
}

}  // namespace

StepCost step_cost(const Step& s) {
  StepCost cost = alone(s);
  const auto n = static_cast<double>(s.ranks);
  if (s.ranks == 1) return cost;
  const Dealt dealt = deal(s.weights, s.ranks);
  const double least = s.weights - dealt.most_values;  // gradients that the largest owner sends; weights it gets

  const Traffic gradients{(n - 1) / n * s.weights * s.bytes_per_gradient,
                          dealt.most_values * (n - 1) * s.bytes_per_gradient,
                          dealt.messages_out + dealt.most_buckets * (n - 1)};
  const Traffic weights{dealt.most_values * (n - 1) * 4, least * 4, dealt.messages_out + dealt.most_buckets * (n - 1)};
  cost.gradients = time_of(s, gradients);
  cost.exposed = exposed(s, cost.gradients, arrival(gradients, s.ranks > s.per_machine ? s.outside : s.inside));
  if (s.overlap && cost.gradients > 0) cost.exposed += stolen(s, gradients) * (1 - cost.exposed / cost.gradients);
  cost.sharing = time_of(s, weights);
  cost.messages = (gradients.messages + weights.messages) * s.outside.overhead;

  // Each term is read once, and the sum stays in cache; also, Exchange::find searches 2 N - 1 branches among N sums.
  cost.adding_up = (n * dealt.most_values * s.bytes_per_gradient / s.memory_bytes_per_second +
                    dealt.most_pieces * n * n * s.seconds_per_search / s.threads) *
                   crowding(s);
  cost.agreeing = gathering(s, 8 * (5 + 2 + 2 + dealt.most_pieces)) + (s.trains ? gathering(s, 16) : 0);
  cost.stepping *= dealt.most_values / s.weights;
  return cost;
}

StepCost step_cost_of_ring(const Step& s) {
  StepCost cost = alone(s);
  const auto n = static_cast<double>(s.ranks);
  if (s.ranks == 1) return cost;
  const Link& link = s.ranks > s.per_machine ? s.outside : s.inside;
  constexpr double bucket = 1 << 20;
  const double buckets = std::max(8.0, std::ceil(s.weights / bucket));
  // The first half of a ring all-reduce; the buckets follow each other around the ring without waiting.
  const double bytes = (n - 1) / n * s.weights * s.bytes_per_gradient;
  cost.gradients = (n - 1) * (link.latency + 2 * link.overhead * buckets) + bytes / link.bytes_per_second;
  cost.exposed = exposed(s, cost.gradients, (n - 1) * (link.latency + 2 * link.overhead));
  if (s.overlap) cost.exposed += stolen(s, {bytes, bytes, 0}) * (1 - std::min(1.0, cost.exposed / cost.gradients));
  cost.sharing = ring_all_gather(4 * s.weights, n, link);
  cost.messages = 4 * (buckets + 1) * (n - 1) * link.overhead;
  cost.adding_up = 0;  // done on the way
  cost.agreeing = (s.trains ? 2 : 1) * halving_all_reduce(4096, n, link);
  cost.stepping /= n;
  return cost;
}

}  // namespace tril::bench
