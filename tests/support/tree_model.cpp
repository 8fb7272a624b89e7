#include "support/tree_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace tril::search::testing {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

bool contains(const Ids& ids, std::int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

std::vector<float> TreeModel::logits(std::int32_t sentence, const Ids& history) const {
  std::uint64_t path = mix64(seed_ * 1000 + static_cast<std::uint64_t>(sentence));
  for (std::int32_t id : history) path = mix64(path * 31 + static_cast<std::uint64_t>(id) + 1);
  RandomSequence random(path, 7);
  std::vector<float> x;
  for (std::int32_t v = 0; v < vocab_size_; ++v)
    x.push_back(static_cast<float>(sharpness_ * random.normal() + (v == eos_ ? eos_bias_ : 0)));
  return x;
}

std::vector<double> TreeModel::log_probs(std::int32_t sentence, const Ids& history) const {
  const std::vector<float> x = logits(sentence, history);
  double sum = 0;
  for (float v : x) sum += std::exp(static_cast<double>(v));
  std::vector<double> p;
  for (float v : x) p.push_back(static_cast<double>(v) - std::log(sum));
  return p;
}

StepOutput TreeStep::step(Context& c, const StepInput& input) {
  ++calls;
  const std::size_t n = input.counts.size();
  rows += static_cast<std::int64_t>(n);
  EXPECT_EQ(input.parents.size(), n);
  EXPECT_EQ(input.sentences.size(), n);
  std::vector<Ids> histories(n);
  std::vector<float> values;
  std::map<std::int32_t, int> seen;
  bool beginning = false;
  auto fresh = input.ids.begin();
  for (std::size_t r = 0; r < n; ++r) {
    if (r == 0 || input.sentences[r] != input.sentences[r - 1]) {
      EXPECT_EQ(seen[input.sentences[r]]++, 0) << "a sentence's rows are apart";
    }
    if (input.parents[r] >= 0) {
      EXPECT_FALSE(beginning) << "rows that go on stand behind rows that begin";
      const auto parent = static_cast<std::size_t>(input.parents[r]);
      EXPECT_EQ(sentences_.at(parent), input.sentences[r]) << "a row changed its sentence";
      histories[r] = histories_.at(parent);
    } else {
      beginning = true;
    }
    histories[r].insert(histories[r].end(), fresh, fresh + input.counts[r]);
    fresh += input.counts[r];
    const std::vector<float> x = model_->logits(input.sentences[r], histories[r]);
    values.insert(values.end(), x.begin(), x.end());
  }
  most_sentences = std::max(most_sentences, static_cast<std::int64_t>(seen.size()));
  histories_ = std::move(histories);
  sentences_.assign(input.sentences.begin(), input.sentences.end());
  return {.logits = c.upload<float>(values, {static_cast<std::int64_t>(n), model_->vocab_size()})};
}

std::vector<double> constrained(const TreeModel& model, std::int32_t sentence, const Ids& history,
                                const Request& request, const SearchPlan& o) {
  std::vector<double> p = model.log_probs(sentence, history);
  const auto at = [&](std::int32_t id) -> double& { return p[static_cast<std::size_t>(id)]; };
  const auto generated = static_cast<std::int32_t>(history.size() - 1 - request.prefix.size());
  const auto force = [&](std::int32_t id) {
    std::fill(p.begin(), p.end(), -inf);
    at(id) = 0;
  };
  const auto normalise = [&] {
    double sum = 0;
    for (double v : p) sum += std::exp(v);
    for (double& v : p) v -= std::log(sum);
  };
  for (std::int32_t v = 0; v < model.vocab_size(); ++v) {
    if (contains(history, v)) at(v) *= o.repetition_penalty;  // a log-probability is not positive
    const auto n = std::count(history.end() - generated, history.end(), v);
    if (n > 0) at(v) -= o.presence_penalty + o.frequency_penalty * static_cast<double>(n);
  }
  if (!o.has_beam()) normalise();
  if (o.no_repeat_ngram > 0)
    for (std::int32_t v = 0; v < model.vocab_size(); ++v) {
      Ids longer = history;
      longer.push_back(v);
      const auto n = static_cast<std::size_t>(o.no_repeat_ngram);
      if (longer.size() <= n) continue;
      const Ids last(longer.end() - static_cast<std::ptrdiff_t>(n), longer.end());
      for (std::size_t i = 0; i + n < longer.size(); ++i)
        if (Ids(longer.begin() + static_cast<std::ptrdiff_t>(i), longer.begin() + static_cast<std::ptrdiff_t>(i + n)) ==
            last)
          at(v) = -inf;
    }
  for (const Ids& word : o.bad_words) {
    if (word.size() == 1 && contains(o.eos_ids, word[0])) continue;
    Ids would = history;
    would.push_back(word.back());
    if (would.size() >= word.size() &&
        std::equal(word.begin(), word.end(), would.end() - static_cast<std::ptrdiff_t>(word.size())))
      at(word.back()) = -inf;
  }
  if (generated < request.min_length)
    for (std::int32_t id : o.eos_ids) at(id) = -inf;
  if (o.forced_bos_id >= 0 && generated == 0) force(o.forced_bos_id);
  if (o.forced_eos_id >= 0 && generated == request.max_length - 1) force(o.forced_eos_id);
  for (std::int32_t id : o.suppress_ids) at(id) = -inf;
  if (generated == (o.forced_bos_id >= 0 ? 1 : 0))
    for (std::int32_t id : o.begin_suppress_ids) at(id) = -inf;
  if (o.renormalize) normalise();
  return p;
}

std::vector<Hypothesis> reference_beam_search(const TreeModel& model, std::int32_t sentence, const Request& request,
                                              const SearchPlan& o, const Ids& first) {
  struct Sequence {
    Ids tokens;
    double sum = -1e9, score = -1e9;
    bool finished = false;
  };
  const auto beams = static_cast<std::size_t>(o.beam_size);
  std::vector<Sequence> running(beams),
      finished(static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(beams) * o.patience))));
  for (Sequence& s : running) {
    s.tokens = {request.start_id};
    s.tokens.insert(s.tokens.end(), request.prefix.begin(), request.prefix.end());
  }
  running[0].sum = 0;
  for (std::int32_t id : first) {
    running[0].sum += constrained(model, sentence, running[0].tokens, request, o)[static_cast<std::size_t>(id)];
    for (Sequence& s : running) s.tokens.push_back(id);
  }

  for (auto length = static_cast<std::int32_t>(first.size()) + 1;; ++length) {
    std::vector<Sequence> candidates;
    for (const Sequence& s : running) {
      const std::vector<double> p = constrained(model, sentence, s.tokens, request, o);
      for (std::int32_t v = 0; v < model.vocab_size(); ++v) {
        Sequence next = s;
        next.tokens.push_back(v);
        next.sum += p[static_cast<std::size_t>(v)];
        next.finished = contains(o.eos_ids, v) || length == request.max_length;
        candidates.push_back(next);
      }
    }
    const auto by_sum = [](const Sequence& a, const Sequence& b) { return a.sum > b.sum; };
    const auto by_score = [](const Sequence& a, const Sequence& b) { return a.score > b.score; };
    std::stable_sort(candidates.begin(), candidates.end(), by_sum);
    candidates.resize(std::min(candidates.size(), std::max<std::size_t>(2, 1 + o.eos_ids.size()) * beams));

    const std::size_t pool = finished.size();
    for (std::size_t rank = 0; rank < candidates.size() && rank < beams; ++rank) {
      if (!candidates[rank].finished) continue;
      Sequence s = candidates[rank];
      s.score = s.sum / std::pow(length, o.length_penalty);
      finished.push_back(s);
    }
    std::stable_sort(finished.begin(), finished.end(), by_score);
    finished.resize(pool);

    running.clear();
    for (const Sequence& s : candidates)
      if (!s.finished && running.size() < beams) running.push_back(s);
    if (running.empty()) break;

    const bool all_finished =
        std::all_of(finished.begin(), finished.end(), [](const Sequence& s) { return s.finished; });
    if (all_finished && (o.early_stopping == EarlyStopping::yes || beams == 1)) break;
    const std::int32_t hoped =
        o.early_stopping == EarlyStopping::never && o.length_penalty > 0 ? request.max_length : length;
    if (all_finished && !(running[0].sum / std::pow(hoped, o.length_penalty) > finished.back().score)) break;
  }

  std::vector<Hypothesis> best;
  const auto given = static_cast<std::ptrdiff_t>(1 + request.prefix.size());
  for (const Sequence& s : finished)
    if (s.finished && s.sum > -1e8 && best.size() < static_cast<std::size_t>(o.n_best))
      best.push_back({Ids(s.tokens.begin() + given, s.tokens.end()), s.sum, s.score});
  return best;
}

std::vector<std::vector<Hypothesis>> reference_diverse(const TreeModel& model, std::int32_t sentence,
                                                       const Request& request, const SearchPlan& o) {
  struct Sequence {
    Ids tokens;
    double log_prob = 0, penalties = 0;
    double score(double length_penalty) const {
      return normalized(log_prob - penalties, static_cast<std::int32_t>(tokens.size()) - 1, length_penalty);
    }
  };
  struct Group {
    std::vector<Sequence> running, finished;
    bool done = false;
  };
  const auto size = static_cast<std::size_t>(o.beam_size / o.beam_groups);
  std::vector<Group> groups(static_cast<std::size_t>(o.beam_groups));
  for (Group& g : groups) g.running = {{{request.start_id}, 0, 0}};
  for (std::int32_t length = 1; length <= request.max_length; ++length) {
    std::vector<std::int32_t> said(static_cast<std::size_t>(model.vocab_size()), 0);
    for (Group& g : groups) {
      if (g.done) continue;
      std::vector<Sequence> candidates;
      for (const Sequence& s : g.running) {
        const std::vector<double> p = constrained(model, sentence, s.tokens, request, o);
        for (std::size_t v = 0; v < p.size(); ++v) {
          if (p[v] == -inf) continue;
          Sequence next = s;
          next.tokens.push_back(static_cast<std::int32_t>(v));
          next.log_prob += p[v];
          next.penalties += o.diversity_penalty * said[v];
          candidates.push_back(next);
        }
      }
      std::stable_sort(candidates.begin(), candidates.end(), [](const Sequence& a, const Sequence& b) {
        return a.log_prob - a.penalties > b.log_prob - b.penalties;
      });
      candidates.resize(std::min(candidates.size(), 2 * size));
      g.running.clear();
      for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
        const Sequence& s = candidates[rank];
        const bool ended = contains(o.eos_ids, s.tokens.back()) || length == request.max_length;
        if (ended && rank < size) g.finished.push_back(s);
        if (!ended && g.running.size() < size) g.running.push_back(s);
      }
      std::stable_sort(g.finished.begin(), g.finished.end(), [&](const Sequence& a, const Sequence& b) {
        return a.score(o.length_penalty) > b.score(o.length_penalty);
      });
      g.finished.resize(std::min(g.finished.size(), size));
      g.done = g.running.empty() || (g.finished.size() == size && (o.early_stopping == EarlyStopping::yes ||
                                                                   g.running[0].score(o.length_penalty) <=
                                                                       g.finished.back().score(o.length_penalty)));
      if (!g.done)
        for (const Sequence& s : g.running) ++said[static_cast<std::size_t>(s.tokens.back())];
    }
  }
  std::vector<std::vector<Hypothesis>> result;
  for (const Group& g : groups) {
    result.emplace_back();
    for (const Sequence& s : g.finished) {
      const auto length = static_cast<std::int32_t>(s.tokens.size()) - 1;
      result.back().push_back(
          {Ids(s.tokens.begin() + 1, s.tokens.end()), s.log_prob, normalized(s.log_prob, length, o.length_penalty)});
    }
  }
  return result;
}

Hypothesis reference_greedy(const TreeModel& model, std::int32_t sentence, const Request& request,
                            const SearchPlan& o) {
  Ids history{request.start_id};
  double sum = 0;
  while (static_cast<std::int32_t>(history.size()) <= request.max_length) {
    const std::vector<double> p = constrained(model, sentence, history, request, o);
    const auto best = std::max_element(p.begin(), p.end());
    sum += *best;
    history.push_back(static_cast<std::int32_t>(best - p.begin()));
    if (contains(o.eos_ids, history.back())) break;
  }
  const auto length = static_cast<std::int32_t>(history.size()) - 1;
  return {Ids(history.begin() + 1, history.end()), sum, normalized(sum, length, o.length_penalty)};
}

std::vector<Hypothesis> exhaustive(const TreeModel& model, std::int32_t sentence, const Request& request,
                                   const SearchPlan& o) {
  std::vector<Hypothesis> all;
  const auto visit = [&](const auto& self, const Ids& history, double sum) -> void {
    const std::vector<double> p = constrained(model, sentence, history, request, o);
    for (std::int32_t v = 0; v < model.vocab_size(); ++v) {
      if (p[static_cast<std::size_t>(v)] == -inf) continue;
      Ids longer = history;
      longer.push_back(v);
      const auto length = static_cast<std::int32_t>(longer.size()) - 1;
      const double total = sum + p[static_cast<std::size_t>(v)];
      if (contains(o.eos_ids, v) || length == request.max_length)
        all.push_back({Ids(longer.begin() + 1, longer.end()), total, normalized(total, length, o.length_penalty)});
      else
        self(self, longer, total);
    }
  };
  visit(visit, {request.start_id}, 0.0);
  std::stable_sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

}  // namespace tril::search::testing
