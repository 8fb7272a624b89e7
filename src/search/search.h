// The search of one sentence: beam search (beam_search.h), or greedy search and sampling (sampling_search.h). It knows neither
// model nor text. Its caller passes each row's candidates and asks which rows continue:
//
//   search.begin(request);                                  // one row: the start token and the prefix
//   while (!search.done()) {
//     search.advance(candidates, k);                        // the k best candidates of each of rows() rows, best first
//     ... row i of the next step is row parent(i) of this one, extended by token(i)
//   }
//   search.hypotheses();
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/plan.h"
#include "search/processors.h"

namespace tril::search {

class Search {
 public:
  virtual ~Search() = default;

  virtual void begin(const Request& request) = 0;
  virtual bool done() const = 0;
  virtual const Request& request() const = 0;
  /// The number of rows of the next step. For each row: its content, the row of the last step that it extends, and its new
  /// token.
  virtual std::int32_t rows() const = 0;
  virtual RowView view(std::int32_t row) const = 0;
  virtual std::int32_t parent(std::int32_t row) const = 0;
  virtual std::int32_t token(std::int32_t row) const = 0;
  /// In beam search the most probable row, otherwise the first.
  virtual std::int32_t best_row() const = 0;

  /// Attention and likeliest tokens of the rows. Each is empty unless the options require it.
  struct Seen {
    std::span<const float> attention = {};       ///< [rows(), source tokens]
    std::span<const Candidate> likeliest = {};   ///< [rows(), SearchPlan::top_log_probs]
    std::span<const LikelyToken> observed = {};  ///< [rows(), SearchPlan::observed_tokens], for the request's observer
  };
  /// @param candidates  [rows(), k]; those with log-probability -inf are ignored
  virtual void advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) = 0;
  void advance(std::span<const Candidate> candidates, std::int32_t k) { advance(candidates, k, {}); }
  /// Ends the search now. The result is the finished hypotheses of a beam search, or the running ones if none has finished;
  /// all samples of a sampling search.
  virtual void cut(StopReason why) = 0;
  /// At least one if the search is done.
  virtual std::vector<Hypothesis> hypotheses() const = 0;

  /// A token of a greedy search or a sample. Beam search reports none, because it may still drop tokens.
  struct Added {
    std::int32_t sample, token;  ///< token -1: the sample ended without a token
    bool ended;
    float log_prob = 0;  ///< of the token, with SearchPlan::scores
    const TokenScore* score =
        nullptr;  ///< null unless token scores are recorded; valid until the next call of the search
  };
  /// The tokens of the last advance() or cut().
  virtual std::span<const Added> added() const { return {}; }
};

/// The search of these options, which must outlive it.
std::unique_ptr<Search> make_search(const SearchPlan& options);
/// The number of candidates that the search needs for each row, if the vocabulary is large enough.
std::int32_t candidates_per_row(const SearchPlan& options);

bool is_eos(const SearchPlan& options, std::int32_t token);
/// Tells an observer the likeliest tokens of each row. @param observed  [rows, any number]
void show(SearchObserver& observer, std::span<const LikelyToken> observed, std::int32_t rows);
/// @throws Error(usage) if the request's lengths contradict each other
void check_lengths(const Request& request);

}  // namespace tril::search
