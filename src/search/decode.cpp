#include "search/decode.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "search/beam_search.h"
#include "search/processors.h"
#include "search/warpers.h"

namespace tril::search {
namespace {

// Tokens that are given and read in one step, besides one for each row that goes on: more than a few thousand make
// products no faster and take memory.
constexpr std::size_t prompt_tokens_a_step = 4096;

// The candidates of each row of a step's logits, on the host: the likeliest, or drawn ones.
class CandidateFinder {
 public:
  CandidateFinder(const SearchOptions& options, std::int64_t vocab_size, std::int32_t k, bool scores)
      : processors_(make_processors(options)),
        sampling_(options.sampling),
        k_(sampling_.on ? k : static_cast<std::int32_t>(std::min<std::int64_t>(k, vocab_size))),
        scores_(scores),
        renormalize_(options.renormalize),
        on_log_probs_(options.has_beam() && options.repetition_penalty != 1) {
    may_skip_logits_ = !sampling_.on && !renormalize_ && !on_log_probs_;
    for (const auto& p : processors_) may_skip_logits_ &= p->has_rule();
  }

  // Of the rows seen last: as many as the search wants, and room for RowView::wanted.
  std::int32_t k() const { return width_; }

  // Whether what is asked of the logits can be said in rules, so that the best of them are enough.
  bool may_skip_logits() const { return may_skip_logits_; }

  // [rows * k()]
  std::span<const Candidate> find(Context& c, const Following& following, std::span<const RowView> rows) {
    return following.logits ? find(c, following.logits, rows) : find_without_logits(c, following, rows);
  }

 private:
  std::span<const Candidate> find(Context& c, const Tensor& logits, std::span<const RowView> rows) {
    const auto [R, V] = logits.dims<2>("logits");
    const auto n_rows = static_cast<std::size_t>(R), n_cols = static_cast<std::size_t>(V);
    // Only the repetition penalty sees whether it gets logits or log-probabilities.
    if (on_log_probs_) c.kernels().log_softmax(logits.data<float>(), logits.data<float>(), n_rows, n_cols);
    const bool normalised = on_log_probs_ && !renormalize_;

    std::vector<float> log_sums;
    if (scores_ && !renormalize_ && !normalised) log_sums = sums(c, logits);
    StepLogits editable(c, logits, log_sums);
    for (const auto& p : processors_) p->apply(rows, editable);
    if (scores_ && renormalize_) log_sums = sums(c, logits);
    if (log_sums.empty()) log_sums.assign(n_rows, 0.0f);

    std::size_t wanted = 0;
    for (const RowView& row : rows) wanted = std::max(wanted, row.wanted.size());
    width_ = k_ + static_cast<std::int32_t>(wanted);
    found_.assign(n_rows * static_cast<std::size_t>(width_), {-INFINITY, -1});
    sampling_.on ? draw_each(logits, log_sums, rows) : take_best(c, logits, log_sums);
    if (wanted > 0) take_wanted(c, logits, log_sums, rows);
    return found_;
  }

  std::span<const Candidate> find_without_logits(Context& c, const Following& following,
                                                 std::span<const RowView> rows) {
    rules_.resize(rows.size());
    forbidden_.resize(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rules_[r].forced = -1;
      rules_[r].forbidden.clear();
      for (const auto& p : processors_) p->rule(rows[r], rules_[r]);
      forbidden_[r].swap(rules_[r].forbidden);
    }
    const ops::Best best =
        ops::projected_top_k(c, following.hidden, following.weight, following.bias, k_, forbidden_, scores_);
    const std::vector<float> value = host_copy<float>(best.values),
                             sum = scores_ ? host_copy<float>(best.log_sums) : std::vector<float>(rows.size(), 0.0f);
    const std::vector<std::int32_t> id = host_copy<std::int32_t>(best.ids);
    const auto k = static_cast<std::size_t>(k_);
    width_ = k_;
    found_.resize(rows.size() * k);
    for (std::size_t i = 0; i < found_.size(); ++i) found_[i] = {value[i] - sum[i / k], id[i]};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::int32_t forced = rules_[r].forced;
      if (forced < 0) continue;
      std::fill_n(&found_[r * k], k, Candidate{-INFINITY, -1});
      const auto& not_allowed = forbidden_[r];
      if (std::find(not_allowed.begin(), not_allowed.end(), forced) == not_allowed.end()) found_[r * k] = {0, forced};
    }
    return found_;
  }

  void take_best(Context& c, const Tensor& logits, std::span<const float> log_sums) {
    const auto [R, V] = logits.dims<2>("logits");
    const auto k = static_cast<std::size_t>(k_);
    const Tensor values = c.empty({R, k_});
    const Tensor ids = c.empty({R, k_}, DType::i32);
    c.kernels().top_k(logits.data<float>(), static_cast<std::size_t>(R), static_cast<std::size_t>(V), k,
                      values.data<float>(), ids.data<std::int32_t>());
    const std::vector<float> value = host_copy<float>(values);
    const std::vector<std::int32_t> id = host_copy<std::int32_t>(ids);
    for (std::size_t i = 0; i < value.size(); ++i)
      found_[i / k * static_cast<std::size_t>(width_) + i % k] = {value[i] - log_sums[i / k], id[i]};
  }

  // What a row wants is a candidate once.
  void take_wanted(Context& c, const Tensor& logits, std::span<const float> log_sums, std::span<const RowView> rows) {
    StepLogits values(c, logits, {});
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<float> value = values.at(static_cast<std::int64_t>(r), rows[r].wanted);
      const auto best = std::span(found_).subspan(r * static_cast<std::size_t>(width_), static_cast<std::size_t>(k_));
      for (std::size_t i = 0; i < value.size(); ++i) {
        const std::int32_t token = rows[r].wanted[i];
        if (std::none_of(best.begin(), best.end(), [&](const Candidate& other) { return other.token == token; }))
          found_[r * static_cast<std::size_t>(width_) + static_cast<std::size_t>(k_) + i] = {value[i] - log_sums[r],
                                                                                             token};
      }
    }
  }

  // A row brings one candidate for each sample that goes on from it. Their log-probabilities are the model's, not those
  // of the choice that was narrowed.
  void draw_each(const Tensor& logits, std::span<const float> log_sums, std::span<const RowView> rows) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<float> x =
          host_copy<float>(logits.rows(static_cast<std::int64_t>(r), static_cast<std::int64_t>(r) + 1));
      Candidate* const found = &found_[r * static_cast<std::size_t>(k_)];
      choices_.clear();
      for (std::size_t v = 0; v < x.size(); ++v) {
        if (!(x[v] < INFINITY)) found[0].log_prob = NAN;
        if (x[v] > -INFINITY) choices_.push_back({static_cast<double>(x[v]), static_cast<std::int32_t>(v)});
      }
      if (std::isnan(found[0].log_prob) || choices_.empty()) continue;
      warp(choices_, sampling_);
      const std::vector<double> sums_so_far = running_sums(choices_);
      for (std::int32_t s = 0; s < rows[r].samples; ++s) {
        const double number =
            sampling_number(sampling_.seed, rows[r].request->number, rows[r].first_sample + s, rows[r].generated());
        const std::int32_t token = draw(choices_, sums_so_far, number);
        found[s] = {x[static_cast<std::size_t>(token)] - log_sums[r], token};
      }
    }
  }

  static std::vector<float> sums(Context& c, const Tensor& logits) {
    const Tensor lse = c.empty({logits.size(0)});
    c.kernels().log_sum_exp(logits.data<float>(), lse.data<float>(), static_cast<std::size_t>(logits.size(0)),
                            static_cast<std::size_t>(logits.size(1)));
    return host_copy<float>(lse);
  }

  Processors processors_;
  SamplingOptions sampling_;
  std::int32_t k_, width_ = 0;
  bool scores_, renormalize_, on_log_probs_, may_skip_logits_ = false;
  std::vector<RowRule> rules_;
  std::vector<std::vector<std::int32_t>> forbidden_;
  std::vector<Candidate> found_;
  Choices choices_;
};

void check_phrases(const Request& request, const SearchOptions& options, std::int64_t vocab_size) {
  check(request.phrases.empty() || options.has_beam(), "phrases",
        "only a beam search can say where they belong, the beam size is {}", options.beam_size);
  for (const auto& phrase : request.phrases)
    for (std::int32_t id : phrase)
      check(id >= 0 && id < vocab_size, "phrases", "id {} is outside the vocabulary of {}", id, vocab_size);
}

using Clock = std::chrono::steady_clock;

bool is_late(Clock::time_point begun, const SearchOptions& options) {
  return options.time_limit > 0 && std::chrono::duration<double>(Clock::now() - begun).count() >= options.time_limit;
}

// The loop, for BeamSearch or Sequences.
template <class Search>
std::vector<std::vector<Hypothesis>> run(Context& c, Step& step, std::span<const Request> requests,
                                         const SearchOptions& options, std::size_t max_live, const Watch& watch) {
  struct Sentence {
    Search search;
    std::int32_t number;
    Clock::time_point begun = {};
  };
  std::vector<std::vector<Hypothesis>> results(requests.size());
  std::vector<Sentence> live;
  std::vector<Search> idle;  // keep their memory for those who join later
  std::vector<std::int32_t> ids, counts, parents, sentences;
  std::vector<RowView> views;
  std::size_t waiting = 0;  // the next request to join

  const bool scores = options.has_beam() || options.scores;
  const auto tell = [&](const Sentence& s) {
    const auto request = static_cast<std::size_t>(s.number);
    if constexpr (std::is_same_v<Search, Sequences>)
      if (watch.on_token)
        for (const Sequences::Added& a : s.search.added()) watch.on_token({request, a.sample, a.token, a.ended});
    if (watch.on_partial && !s.search.done())
      watch.on_partial({request, s.search.view(s.search.best_row()).new_tokens()});
  };
  const auto cancel_all = [&] {
    for (; waiting < requests.size(); ++waiting) {
      live.push_back({Search(options), static_cast<std::int32_t>(waiting)});
      live.back().search.begin(requests[waiting]);
    }
    for (Sentence& s : live) {
      s.search.cut(Cut::cancelled);
      tell(s);
      results[static_cast<std::size_t>(s.number)] = s.search.hypotheses();
    }
  };
  CandidateFinder finder(options, step.vocab_size(), Search::candidates_per_row(options), scores);
  // A phrase's token may be far from the best, so its logit is needed.
  const bool phrases =
      std::any_of(requests.begin(), requests.end(), [](const Request& r) { return !r.phrases.empty(); });
  for (;;) {
    if (watch.stop.stop_requested()) {
      cancel_all();
      return results;
    }
    std::size_t given = 0;
    while (live.size() < max_live && waiting < requests.size() &&
           (given == 0 || given + requests[waiting].prefix.size() < prompt_tokens_a_step)) {
      const Request& request = requests[waiting];
      if (idle.empty()) idle.emplace_back(options);
      live.push_back({std::move(idle.back()), static_cast<std::int32_t>(waiting), Clock::now()});
      idle.pop_back();
      live.back().search.begin(request);
      ids.push_back(request.start_id);
      ids.insert(ids.end(), request.prefix.begin(), request.prefix.end());
      counts.push_back(1 + static_cast<std::int32_t>(request.prefix.size()));
      given += 1 + request.prefix.size();
      parents.push_back(-1);
      sentences.push_back(static_cast<std::int32_t>(waiting));
      ++waiting;
    }
    if (live.empty()) return results;

    const StepInput input{ids, counts, parents, sentences};
    const Following following =
        finder.may_skip_logits() && !phrases ? step.following(c, input) : Following{.logits = step.logits(c, input)};
    if (following.logits)
      check_shape(following.logits, {static_cast<std::int64_t>(counts.size()), step.vocab_size()}, "logits");
    views.clear();
    for (const Sentence& s : live)
      for (std::int32_t r = 0; r < s.search.rows(); ++r) views.push_back(s.search.view(r));
    const std::span<const Candidate> candidates = finder.find(c, following, views);

    ids.clear(), counts.clear(), parents.clear(), sentences.clear();
    std::int32_t first_row = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Search& search = live[i].search;
      const std::int32_t rows = search.rows();
      search.advance(candidates.subspan(static_cast<std::size_t>(first_row) * static_cast<std::size_t>(finder.k()),
                                        static_cast<std::size_t>(rows) * static_cast<std::size_t>(finder.k())),
                     finder.k());
      tell(live[i]);
      if (!search.done() && is_late(live[i].begun, options)) {
        search.cut(Cut::time_limit);
        tell(live[i]);
      }
      if (search.done()) {
        results[static_cast<std::size_t>(live[i].number)] = search.hypotheses();
        idle.push_back(std::move(search));
      } else {
        for (std::int32_t r = 0; r < search.rows(); ++r) {
          ids.push_back(search.token(r));
          counts.push_back(1);
          parents.push_back(first_row + search.parent(r));
          sentences.push_back(live[i].number);
        }
        if (kept != i) live[kept] = std::move(live[i]);
        ++kept;
      }
      first_row += rows;
    }
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(kept), live.end());
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> decode(Context& c, Step& step, std::span<const Request> requests,
                                            const SearchOptions& options, std::int64_t max_live, const Watch& watch) {
  check_options(options, step.vocab_size());
  for (const Request& request : requests) check_phrases(request, options, step.vocab_size());
  check(max_live >= 0, "decode", "expected at least 0 live sentences, got {}", max_live);
  const std::size_t most = max_live == 0 ? requests.size() : static_cast<std::size_t>(max_live);
  return options.has_beam() ? run<BeamSearch>(c, step, requests, options, most, watch)
                            : run<Sequences>(c, step, requests, options, most, watch);
}

}  // namespace tril::search
