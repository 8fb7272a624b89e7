#include "search/decode.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "search/beam_search.h"
#include "search/candidates.h"

namespace tril::search {
namespace {

// Tokens that are given and read in one step, besides one for each row that goes on: more than a few thousand make
// products no faster and take memory.
constexpr std::size_t prompt_tokens_a_step = 4096;

void check_phrases(const Request& request, const SearchOptions& options, std::int64_t vocab_size) {
  check(request.phrases.empty() || options.has_beam(), "phrases",
        "only a beam search can say where they belong, the beam size is {}", options.beam_size);
  for (const auto& phrase : request.phrases)
    for (std::int32_t id : phrase)
      check(id >= 0 && id < vocab_size, "phrases", "id {} is outside the vocabulary of {}", id, vocab_size);
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

    const StepInput input{.ids = ids, .counts = counts, .parents = parents, .sentences = sentences};
    const Following following =
        finder.may_skip_logits() && !phrases ? step.following(c, input) : Following{.logits = step.logits(c, input)};
    const std::span<const std::int32_t> columns = step.columns();
    if (following.logits)
      check_shape(following.logits,
                  {static_cast<std::int64_t>(counts.size()),
                   columns.empty() ? step.vocab_size() : static_cast<std::int64_t>(columns.size())},
                  "logits");
    views.clear();
    for (const Sentence& s : live)
      for (std::int32_t r = 0; r < s.search.rows(); ++r) views.push_back(s.search.view(r));
    const std::span<const Candidate> candidates = finder.find(c, following, views, columns);

    const Step::Attention* const looked = options.attention.on ? step.attention() : nullptr;
    check(!options.attention.on || looked, "decode", "attention is to be kept and the step has none");
    std::size_t first_weight = 0;
    ids.clear(), counts.clear(), parents.clear(), sentences.clear();
    std::int32_t first_row = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Search& search = live[i].search;
      const std::int32_t rows = search.rows();
      std::span<const float> weights;
      if (looked) {
        const std::size_t source = static_cast<std::size_t>(looked->lengths[static_cast<std::size_t>(first_row)]);
        weights = std::span(looked->weights).subspan(first_weight, static_cast<std::size_t>(rows) * source);
        first_weight += weights.size();
      }
      search.advance(candidates.subspan(static_cast<std::size_t>(first_row) * static_cast<std::size_t>(finder.k()),
                                        static_cast<std::size_t>(rows) * static_cast<std::size_t>(finder.k())),
                     finder.k(), weights);
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
