// The state of one sentence's search: a beam search (beam_search.h), or hypotheses that go on independently (sampling_search.h). A
// search knows no model and no text. Its caller hands it each row's candidates and asks which rows go on:
//
//   search.begin(request);                                  // one row, holding the start token and the prefix
//   while (!search.done()) {
//     search.advance(candidates, k);                        // the k best of each of rows() rows, best first
//     ... rows i of the next step: parent(i) of this one, extended by token(i)
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
  /// Rows of the next step, and of each of them what it holds, the row of the last step that it extends, and its new token.
  virtual std::int32_t rows() const = 0;
  virtual RowView view(std::int32_t row) const = 0;
  virtual std::int32_t parent(std::int32_t row) const = 0;
  virtual std::int32_t token(std::int32_t row) const = 0;
  /// The most probable row of a beam search; else the first.
  virtual std::int32_t best_row() const = 0;

  /// What the rows looked at, and their likeliest tokens, where the options ask for them.
  struct Seen {
    std::span<const float> attention = {};      ///< [rows(), source tokens]
    std::span<const Candidate> likeliest = {};  ///< [rows(), SearchPlan::top_log_probs]
  };
  /// candidates [rows() * k]; those of log-probability -inf do not count.
  virtual void advance(std::span<const Candidate> candidates, std::int32_t k, const Seen& seen) = 0;
  void advance(std::span<const Candidate> candidates, std::int32_t k) { advance(candidates, k, {}); }
  /// Ends the search where it is. The result is what is finished; of a beam search without any, what was running; of samples, all.
  virtual void cut(StopReason why) = 0;
  /// At least one once the search is done.
  virtual std::vector<Hypothesis> hypotheses() const = 0;

  /// A token that was chosen for good. A beam search chooses none before its end.
  struct Added {
    std::int32_t sample, token;  ///< token -1: none, since nothing may follow
    bool ended;
    float log_prob = 0;                 ///< of the token, with scores
    const TokenScore* score = nullptr;  ///< where they are kept; until the search is called again
  };
  /// Those of the last advance() or cut().
  virtual std::span<const Added> added() const { return {}; }
};

/// The search that the options call for; they must outlive it.
std::unique_ptr<Search> make_search(const SearchPlan& options);
/// Candidates that each row must bring to it, if the vocabulary has so many.
std::int32_t candidates_per_row(const SearchPlan& options);

bool is_eos(const SearchPlan& options, std::int32_t token);
/// @throws Error(usage) where the request's lengths contradict each other
void check_lengths(const Request& request);

}  // namespace tril::search
