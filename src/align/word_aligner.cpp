#include "align/word_aligner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "align/cooccurrences.h"
#include "base/team.h"
#include "unicode/characters.h"
#include "unicode/letter_case.h"

namespace tril {
namespace {

using Row = ParallelWords::Row;

// The form in which words are compared.
std::string key_of(std::string_view word) {
  const CharacterKinds& kinds = CharacterKinds::table();
  const auto is_punctuation = [&](std::size_t at) {
    return (kinds(character_at(word, at).code) & kind_punctuation) != 0;
  };
  std::size_t begin = 0, end = word.size();
  while (begin < end && is_punctuation(begin)) begin += character_at(word, begin).length;
  while (end > begin && is_punctuation(last_character(word, end))) end = last_character(word, end);
  return lower_case(begin < end ? word.substr(begin, end - begin) : word);
}

// The digamma function, for x > 0: by psi(x) = psi(x + 1) - 1/x up to 6, then its asymptotic series [Abramowitz and
// Stegun 1964, 6.3.18].
double digamma(double x) {
  double result = 0;
  while (x < 6) result -= 1 / x++;
  const double square = 1 / (x * x);
  return result + std::log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

// One direction: aligns each target word to a source word.
class Model {
 public:
  Model(const ParallelWords& text, bool turned, const WordAlignerOptions& o)
      : text_(text), turned_(turned), o_(o), lambda_(o.tension), pairs_(each_pair(), sources()) {
    theta_.assign(pairs_.size(), 1.0);  // any constant will do: at first only the diagonal prior counts
    for (std::size_t p = 0; p < text.pairs(); ++p) ++lengths_[{source(p).size(), target(p).size()}];
  }

  // E: c(t, s) and the mean of h; M: theta, lambda.
  void iterate() {
    std::vector<double> counts(pairs_.size(), 0.0);
    double h = 0, aligned = 0;
    walk([&](std::size_t, std::size_t j, std::size_t m, double null, const std::vector<double>& p) {
      const double sum = std::accumulate(p.begin(), p.end(), null);
      if (sum <= 0) return;
      counts[null_place_] += null / sum;
      for (std::size_t i = 0; i < p.size(); ++i) {
        counts[places_[i]] += p[i] / sum;
        h += p[i] / sum * nearness(i, p.size(), j, m);
        aligned += p[i] / sum;
      }
    });
    for (std::int64_t s = 0; s <= pairs_.sources(); ++s) {
      double sum = 0;
      for (std::size_t k = pairs_.begin(s); k < pairs_.end(s); ++k) sum += counts[k] + o_.alpha;
      for (std::size_t k = pairs_.begin(s); k < pairs_.end(s); ++k)
        theta_[k] = std::exp(digamma(counts[k] + o_.alpha) - digamma(sum));
    }
    if (aligned > 0) lambda_ = tension_of(h / aligned);
  }

  // The best pairs of source and target words in the order of the text, in either direction.
  std::vector<Alignment> best() {
    std::vector<Alignment> all(text_.pairs());
    walk([&](std::size_t pair, std::size_t j, std::size_t, double null, const std::vector<double>& p) {
      const auto most = std::max_element(p.begin(), p.end());
      if (most == p.end() || *most <= null) return;
      const auto from = static_cast<std::int32_t>(most - p.begin()), to = static_cast<std::int32_t>(j);
      all[pair].push_back(turned_ ? AlignmentPoint{to, from} : AlignmentPoint{from, to});
    });
    for (Alignment& a : all) std::sort(a.begin(), a.end());
    return all;
  }

 private:
  static double nearness(std::size_t i, std::size_t n, std::size_t j, std::size_t m) {
    return -std::abs(static_cast<double>(i + 1) / static_cast<double>(n) -
                     static_cast<double>(j + 1) / static_cast<double>(m));
  }

  std::size_t sources() const { return turned_ ? text_.target_words() : text_.source_words(); }
  Row source(std::size_t pair) const { return turned_ ? text_.target(pair) : text_.source(pair); }
  Row target(std::size_t pair) const { return turned_ ? text_.source(pair) : text_.target(pair); }
  Cooccurrences::EachPair each_pair() const {
    return [this](const std::function<void(Row, Row)>& take) {
      for (std::size_t p = 0; p < text_.pairs(); ++p) take(source(p), target(p));
    };
  }

  // For each target word, the weight of NULL and of each source word: p(a) theta.
  template <class Take>
  void walk(const Take& take) {
    std::vector<double> p;
    for (std::size_t pair = 0; pair < text_.pairs(); ++pair) {
      const Row s = source(pair), t = target(pair);
      const std::size_t n = s.size(), m = t.size();
      for (std::size_t j = 0; j < m; ++j) {
        p.resize(n), places_.resize(n);
        double z = 0;
        for (std::size_t i = 0; i < n; ++i) z += p[i] = std::exp(lambda_ * nearness(i, n, j, m));
        for (std::size_t i = 0; i < n; ++i) {
          places_[i] = pairs_.place(s[i], t[j]);
          p[i] *= (1 - o_.null) / z * theta_[places_[i]];
        }
        null_place_ = pairs_.place(pairs_.sources(), t[j]);
        take(pair, j, m, o_.null * theta_[null_place_], p);
      }
    }
  }

  // The expected mean of h under lambda, over the lengths of the text.
  double expected(double lambda) const {
    double h = 0, words = 0;
    for (const auto& [length, count] : lengths_) {
      const auto [n, m] = length;
      for (std::size_t j = 0; j < m && n > 0; ++j) {
        double z = 0, sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double near = nearness(i, n, j, m), e = std::exp(lambda * near);
          z += e, sum += e * near;
        }
        h += count * sum / z, words += count;
      }
    }
    return words > 0 ? h / words : 0;
  }

  // expected() grows with lambda: bisection finds the lambda of that mean.
  double tension_of(double mean) const {
    double low = 0.1, high = 14;
    for (int step = 0; step < 20; ++step) {
      const double middle = (low + high) / 2;
      (expected(middle) < mean ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  const ParallelWords& text_;
  bool turned_;
  WordAlignerOptions o_;
  double lambda_;
  Cooccurrences pairs_;
  std::vector<double> theta_;                                      ///< by the numbers of pairs_
  std::map<std::pair<std::size_t, std::size_t>, double> lengths_;  ///< number of row pairs with each n and m
  std::vector<std::size_t> places_;                                ///< of the target word that walk() is at
  std::size_t null_place_ = 0;
};

std::vector<Alignment> align_one_way(const ParallelWords& text, bool turned, const WordAlignerOptions& o,
                                     const std::function<void()>& on_iteration) {
  Model model(text, turned, o);
  for (int n = 0; n < o.iterations; ++n) {
    model.iterate();
    if (on_iteration) on_iteration();
  }
  return model.best();
}

// The chosen pairs, and the words that they align.
class Taken {
 public:
  explicit Taken(const Alignment& first) {
    for (const AlignmentPoint& p : first) take(p);
  }
  bool has(AlignmentPoint p) const { return points_.contains(p); }
  bool has_source(std::int32_t s) const { return sources_.contains(s); }
  bool has_target(std::int32_t t) const { return targets_.contains(t); }
  void take(AlignmentPoint p) { points_.insert(p), sources_.insert(p.source), targets_.insert(p.target); }
  const std::set<AlignmentPoint>& points() const { return points_; }

 private:
  std::set<AlignmentPoint> points_;
  std::set<std::int32_t> sources_, targets_;
};

// Adds neighbours of the chosen pairs, direct ones before diagonal ones.
void grow_diagonally(Taken& taken, const Alignment& both) {
  constexpr std::array<AlignmentPoint, 8> around{
      {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};
  for (bool grown = true; std::exchange(grown, false);)
    for (const AlignmentPoint& p : Alignment(taken.points().begin(), taken.points().end()))
      for (const AlignmentPoint& step : around) {
        const AlignmentPoint q{p.source + step.source, p.target + step.target};
        if (taken.has(q) || (taken.has_source(q.source) && taken.has_target(q.target))) continue;
        if (std::binary_search(both.begin(), both.end(), q)) taken.take(q), grown = true;
      }
}

}  // namespace

bool ParallelWords::add(std::string_view source, std::string_view target) {
  return add_words(words_between_spaces(source), words_between_spaces(target));
}

bool ParallelWords::add(std::span<const std::string> source, std::span<const std::string> target) {
  return add_words(source, target);
}

template <class Words>
bool ParallelWords::add_words(const Words& source, const Words& target) {
  const bool fits = source.size() <= most_words && target.size() <= most_words;
  const bool counts = fits && !source.empty() && !target.empty();
  for (const std::size_t side : {0, 1}) {
    auto& ids = ids_[side];
    if (counts)
      for (const auto& word : side == 0 ? source : target)
        words_[side].push_back(ids.try_emplace(key_of(word), static_cast<std::int32_t>(ids.size())).first->second);
    ends_[side].push_back(words_[side].size());
  }
  return fits;
}

ParallelWords::Row ParallelWords::row(std::size_t side, std::size_t pair) const {
  const std::size_t begin = pair == 0 ? 0 : ends_[side][pair - 1];
  return Row(words_[side]).subspan(begin, ends_[side][pair] - begin);
}

Alignment symmetrized(const Alignment& forward, const Alignment& backward, Symmetrization how) {
  if (how == Symmetrization::forward) return forward;
  if (how == Symmetrization::backward) return backward;
  Alignment shared, both;
  std::set_intersection(forward.begin(), forward.end(), backward.begin(), backward.end(), std::back_inserter(shared));
  std::set_union(forward.begin(), forward.end(), backward.begin(), backward.end(), std::back_inserter(both));
  if (how == Symmetrization::intersection) return shared;
  if (how == Symmetrization::all) return both;
  Taken taken(shared);
  grow_diagonally(taken, both);
  if (how == Symmetrization::grow_diag_final_and)
    for (const Alignment* side : {&forward, &backward})
      for (const AlignmentPoint& p : *side)
        if (!taken.has_source(p.source) && !taken.has_target(p.target)) taken.take(p);
  return {taken.points().begin(), taken.points().end()};
}

std::vector<Alignment> align_words(const ParallelWords& text, const WordAlignerOptions& o,
                                   const std::function<void()>& on_iteration) {
  std::vector<Alignment> forward, backward;
  if (o.symmetrization == Symmetrization::forward) return align_one_way(text, false, o, on_iteration);
  if (o.symmetrization == Symmetrization::backward) return align_one_way(text, true, o, on_iteration);
  Team team(2);
  team.run([&](int member) {
    if (member == 0) forward = align_one_way(text, false, o, on_iteration);
    if (member == 1) backward = align_one_way(text, true, o, on_iteration);
  });
  for (std::size_t p = 0; p < forward.size(); ++p) forward[p] = symmetrized(forward[p], backward[p], o.symmetrization);
  return forward;
}

}  // namespace tril
