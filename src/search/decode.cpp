#include "search/decode.h"

#include <algorithm>

#include "base/error.h"
#include "search/beam_search.h"
#include "search/processors.h"

namespace tril::search {
namespace {

// The best candidates of each row of a step's logits, on the host.
class CandidateFinder {
 public:
  CandidateFinder(const SearchOptions& options, std::int64_t vocab_size, std::int32_t k, bool scores)
      : processors_(make_processors(options)),
        k_(static_cast<std::int32_t>(std::min<std::int64_t>(k, vocab_size))),
        scores_(scores),
        renormalize_(options.renormalize) {}

  std::int32_t k() const { return k_; }

  // [rows * k]
  std::span<const Candidate> find(Context& c, const Tensor& logits, std::span<const RowView> rows) {
    const auto [R, V] = logits.dims<2>("logits");
    const auto n_rows = static_cast<std::size_t>(R), n_cols = static_cast<std::size_t>(V);
    const auto k = static_cast<std::size_t>(k_);

    std::vector<float> log_sums;
    if (scores_ && !renormalize_) log_sums = sums(c, logits);
    StepLogits editable(c, logits, log_sums);
    for (const auto& p : processors_) p->apply(rows, editable);
    if (scores_ && renormalize_) log_sums = sums(c, logits);

    const Tensor values = c.empty({R, k_});
    const Tensor ids = c.empty({R, k_}, DType::i32);
    c.kernels().top_k(logits.data<float>(), n_rows, n_cols, k, values.data<float>(), ids.data<std::int32_t>());
    const std::vector<float> value = host_copy<float>(values);
    const std::vector<std::int32_t> id = host_copy<std::int32_t>(ids);

    found_.resize(n_rows * k);
    for (std::size_t i = 0; i < found_.size(); ++i)
      found_[i] = {scores_ ? value[i] - log_sums[i / k] : value[i], id[i]};
    return found_;
  }

 private:
  static std::vector<float> sums(Context& c, const Tensor& logits) {
    const Tensor lse = c.empty({logits.size(0)});
    c.kernels().log_sum_exp(logits.data<float>(), lse.data<float>(), static_cast<std::size_t>(logits.size(0)),
                            static_cast<std::size_t>(logits.size(1)));
    return host_copy<float>(lse);
  }

  Processors processors_;
  std::int32_t k_;
  bool scores_, renormalize_;
  std::vector<Candidate> found_;
};

// The loop, for BeamSearch or Greedy.
template <class Search>
std::vector<std::vector<Hypothesis>> run(Context& c, Step& step, std::span<const Request> requests,
                                         const SearchOptions& options, std::size_t max_live) {
  struct Sentence {
    Search search;
    std::int32_t number;
  };
  std::vector<std::vector<Hypothesis>> results(requests.size());
  std::vector<Sentence> live;
  std::vector<Search> idle;  // keep their memory for those who join later
  std::vector<std::int32_t> ids, parents, sentences;
  std::vector<RowView> views;
  std::size_t waiting = 0;  // the next request to join

  const bool scores = options.beam_size > 1 || options.scores;
  CandidateFinder finder(options, step.vocab_size(), Search::candidates_per_row(options), scores);
  for (;;) {
    while (live.size() < max_live && waiting < requests.size()) {
      if (idle.empty()) idle.emplace_back(options);
      live.push_back({std::move(idle.back()), static_cast<std::int32_t>(waiting)});
      idle.pop_back();
      live.back().search.begin(requests[waiting]);
      ids.push_back(requests[waiting].start_id);
      parents.push_back(-1);
      sentences.push_back(static_cast<std::int32_t>(waiting));
      ++waiting;
    }
    if (live.empty()) return results;

    const Tensor logits = step.logits(c, {ids, parents, sentences});
    check_shape(logits, {static_cast<std::int64_t>(ids.size()), step.vocab_size()}, "logits");
    views.clear();
    for (const Sentence& s : live)
      for (std::int32_t r = 0; r < s.search.rows(); ++r) views.push_back({s.search.tokens(r), &s.search.request()});
    const std::span<const Candidate> candidates = finder.find(c, logits, views);

    ids.clear(), parents.clear(), sentences.clear();
    std::int32_t first_row = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
      Search& search = live[i].search;
      const std::int32_t rows = search.rows();
      search.advance(candidates.subspan(static_cast<std::size_t>(first_row) * static_cast<std::size_t>(finder.k()),
                                        static_cast<std::size_t>(rows) * static_cast<std::size_t>(finder.k())),
                     finder.k());
      if (search.done()) {
        results[static_cast<std::size_t>(live[i].number)] = search.hypotheses();
        idle.push_back(std::move(search));
      } else {
        for (std::int32_t r = 0; r < search.rows(); ++r) {
          ids.push_back(search.token(r));
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
                                            const SearchOptions& options, std::int64_t max_live) {
  check_options(options, step.vocab_size());
  check(max_live >= 0, "decode", "expected at least 0 live sentences, got {}", max_live);
  const std::size_t most = max_live == 0 ? requests.size() : static_cast<std::size_t>(max_live);
  return options.beam_size == 1 ? run<Greedy>(c, step, requests, options, most)
                                : run<BeamSearch>(c, step, requests, options, most);
}

}  // namespace tril::search
